"""Failures of other tool searches, from public reports: topic and word forms (BC-05, BC-06, BC-07, BC-13)."""

from __future__ import annotations

import pytest
from case_tools import obj, t


@pytest.mark.parametrize(
    ("tools", "expectations"),
    [
        (
            [
                t("tide_lookup", "Look up tide times for a harbour"),
                t("handbook_search", "Search the staff handbook pages"),
                t("env_read", "Read a value from the environment file"),
                t("code_search", "Find text in the source tree"),
            ],
            [("loaded", "handbook_search", "look for the handbook page about parental leave")],
        ),
        (
            [
                t("checkIn", "Check in a guest at the desk"),
                t("poolStatus", "Temperature and opening hours of the swimming pool"),
                t("runReport", "Run a report"),
                t("makeKey", "Make a room key"),
            ],
            [
                (
                    "loaded",
                    "poolStatus",
                    "check whether the pool is warm enough to swim",
                    "can you run me through the pool opening hours",
                )
            ],
        ),
        (
            [
                t("melden", "Einen Schaden melden"),
                t("strom-zaehler", "Zählerstand des Stroms ablesen"),
                t("suchen", "Anträge der Gemeinde durchsuchen"),
                t("termin", "Einen Termin vereinbaren"),
            ],
            [("first", "strom-zaehler", "ich möchte den Zählerstand vom Strom melden")],
        ),
        (
            [
                t("показать.меню", "Показать меню столовой"),
                t("отпуск.остаток", "Сколько дней отпуска осталось у сотрудника"),
                t("найти.коллегу", "Найти коллегу по имени"),
                t("открыть.кабинет", "Открыть личный кабинет"),
            ],
            [("first", "отпуск.остаток", "покажи, сколько у меня осталось дней отпуска")],
        ),
        (
            [
                t("打开车库", "打开车库的门"),
                t("体温记录", "记录宝宝的体温和用药时间"),
                t("查找图书", "查找图书馆的书"),
                t("打开电视", "打开客厅的电视"),
                *(t(f"房间{i}", f"打开房间{i}的灯") for i in range(40)),
            ],
            [("first", "体温记录", "帮我打开宝宝昨天的体温和用药情况")],
        ),
    ],
    ids=["reported", "camel", "german", "cyrillic dotted", "chinese, 44"],
)
def test_bc05_an_incidental_verb_does_not_win_over_the_topic(check, tools, expectations):
    """Kind: topic. What a request is about outweighs a verb that another tool happens to share."""
    check(tools, *expectations)


@pytest.mark.parametrize(
    ("tools", "expectations"),
    [
        (
            [
                t("spreadsheet_open", "Open a workbook"),
                t("thread_list", "List message threads"),
                t("file_read", "Return the text of a file"),
                t("cart_total", "Sum of the basket"),
            ],
            [
                ("loaded", "file_read", "read"),
                ("absent", "spreadsheet_open thread_list", "read"),
                ("nothing", "", "art"),
            ],
        ),
        (
            [
                t("scatterPlot", "Draw points"),
                t("catererOrder", "Food for a party"),
                t("catFeed", "Give the pet its meal"),
            ],
            [
                ("loaded", "catFeed", "cat"),
                ("absent", "scatterPlot catererOrder", "cat"),
                ("nothing", "", "lot"),
            ],
        ),
        (
            [
                t("restore-backup", "Bring back a backup"),
                t("store-open", "Open the shop"),
                t("rest-timer", "Pause between sets"),
            ],
            [
                ("loaded", "rest-timer", "rest"),
                ("absent", "restore-backup store-open", "rest"),
                ("nothing", "", "tore"),
            ],
        ),
        (
            [t("подкова", "Подковать лошадь"), t("кова", "Выковать деталь"), t("основа", "Общие сведения")],
            [("loaded", "кова", "кова"), ("nothing", "", "осно")],
        ),
        (
            [
                t("Seat::Reserve", "Hold a chair"),
                t("Beat::Generate", "Make a rhythm"),
                t("Eat::Log", "Note a meal"),
                t("Heater::Start", "Warm the hall"),
            ],
            [
                ("loaded", "Eat::Log", "eat"),
                ("absent", "Seat::Reserve Beat::Generate Heater::Start", "eat"),
                ("nothing", "", "hea"),
            ],
        ),
        (
            [t("برنامج_تشغيل", "تشغيل البرنامج"), t("نام_وقت", "وقت النوم"), t("مكتبة", "قائمة الكتب")],
            [("loaded", "نام_وقت", "نام"), ("absent", "برنامج_تشغيل", "نام"), ("nothing", "", "رنا")],
        ),
    ],
    ids=["reported", "camel", "kebab", "cyrillic", "colons", "arabic"],
)
def test_bc06_letters_inside_another_word_are_no_match(check, tools, expectations):
    """Kind: topic. Words match words, not the letters of longer ones."""
    check(tools, *expectations)


@pytest.mark.parametrize(
    ("tools", "expectations"),
    [
        (
            [
                t("cron_create", "Schedule a recurring task"),
                t("repo_create", "Create a repository"),
                t("note_pin", "Pin a note to the top"),
            ],
            [
                ("loaded", "cron_create", "scheduling", "scheduled tasks"),
                ("loaded", "repo_create", "repositories"),
                ("loaded", "note_pin", "pinned notes"),
            ],
        ),
        (
            [
                t("pdfMerge", "Join a PDF with another"),
                t("vmBoot", "Start a virtual machine"),
                t("queryRun", "Run a query"),
            ],
            [
                ("loaded", "pdfMerge", "PDFs", "pdfs merging"),
                ("loaded", "vmBoot", "VMs", "virtual machines"),
                ("loaded", "queryRun", "queries"),
            ],
        ),
        (
            [
                t("kniga_find", "Найти книгу в каталоге"),
                t("reader_add", "Записать нового читателя"),
                t("fine_pay", "Оплатить штраф"),
            ],
            [
                ("loaded", "kniga_find", "книги"),
                ("loaded", "reader_add", "читатели"),
                ("loaded", "fine_pay", "штрафы"),
            ],
        ),
        (
            [
                t("مكتبة.كتاب", "استعارة كتاب من الرف"),
                t("مكتبة.قارئ", "تسجيل قارئ جديد"),
                t("مكتبة.غرامة", "دفع غرامة"),
            ],
            [
                ("loaded", "مكتبة.كتاب", "الكتاب"),
                ("loaded", "مكتبة.قارئ", "القارئ"),
                ("loaded", "مكتبة.غرامة", "الغرامات"),
            ],
        ),
        (
            [
                *(t(f"step{i}", f"Part {i} of the assembly line") for i in range(50)),
                t("batchDeny", "Deny a batch that fails inspection"),
                t("knifeSharpen", "Sharpen a knife"),
                t("analysisRun", "Run an analysis"),
            ],
            [
                ("loaded", "batchDeny", "batches denied", "denying a batch"),
                ("loaded", "knifeSharpen", "sharpening", "sharpened"),
                ("loaded", "analysisRun", "running analysis"),
            ],
        ),
    ],
    ids=["reported", "acronyms", "russian", "arabic", "english, 53"],
)
def test_bc07_word_forms(check, tools, expectations):
    """Kind: word forms. Endings do not keep a word from its base form."""
    check(tools, *expectations)


@pytest.mark.parametrize(
    ("tools", "expectations"),
    [
        (
            [
                t(
                    "company_lookup",
                    "Find a company",
                    obj(vat_number={"type": "string", "description": "VAT registration"}),
                ),
                t(
                    "set_drive",
                    "Change how the car responds",
                    obj(mode={"type": "string", "enum": ["eco", "turbo", "snow"]}),
                ),
                t("radio_tune", "Choose a station"),
            ],
            [("loaded", "company_lookup", "VAT number", "registration"), ("loaded", "set_drive", "turbo")],
        ),
        (
            [
                t("bakeStart", "Begin", obj(oven=obj(crustDarkness={"description": "how brown it gets"}))),
                t(
                    "mixStart",
                    "Begin",
                    obj(bowls={"type": "array", "items": obj(whisk={"enum": ["balloon", "spiral"]})}),
                ),
                t("coolStart", "Begin", obj(minutes={"type": "integer"})),
            ],
            [
                ("loaded", "bakeStart", "crust darkness", "crustDarkness", "brown"),
                ("loaded", "mixStart", "whisk", "spiral"),
                ("loaded", "coolStart", "minutes"),
            ],
        ),
        (
            [
                t("ausleihe", "Vorgang", obj(leihfrist={"description": "Dauer in Tagen"})),
                t("rückgabe", "Vorgang", obj(zustand={"enum": ["beschädigt", "neuwertig"]})),
                t("mahnung", "Vorgang", obj(gebühr={"type": "number"})),
            ],
            [
                ("loaded", "ausleihe", "leihfrist", "Dauer in Tagen"),
                ("loaded", "rückgabe", "neuwertig", "beschadigt"),
                ("loaded", "mahnung", "Gebühr"),
            ],
        ),
        (
            [
                t("कदम-एक", "काम", obj(रंग={"enum": ["लाल", "नीला"]})),
                t("कदम-दो", "काम", obj(वज़न={"description": "किलो में भार"})),
                t("कदम-तीन", "काम", {"anyOf": [obj(तारीख={"type": "string"}), obj(दूरी={"type": "number"})]}),
            ],
            [
                ("loaded", "कदम-एक", "नीला", "रंग"),
                ("loaded", "कदम-दो", "भार"),
                ("loaded", "कदम-तीन", "दूरी"),
            ],
        ),
        (
            [
                t(f"Stage{i}", "Part of the process", obj(**{f"value{i}": {"type": "integer"}}))
                for i in range(60)
            ]
            + [
                t("StageX", "Part of the process", obj(solvent={"enum": ["acetone", "ethanol"]})),
                t("StageY", "Part of the process", obj(purge={"description": "seconds of nitrogen flow"})),
            ],
            [("loaded", "StageX", "acetone", "solvent"), ("loaded", "StageY", "nitrogen", "purge")],
        ),
    ],
    ids=["reported", "nested", "german", "hindi kebab", "pascal, 62"],
)
def test_bc13_parameters_and_enum_values(check, tools, expectations):
    """Kind: topic. Words of parameters, their descriptions and their values find the tool."""
    check(tools, *expectations)
