"""Failures of other tool searches, from public reports: a tool's name in every spelling (BC-01, 02, 03, 12, 14)."""

from __future__ import annotations

import pytest
from case_tools import t


@pytest.mark.parametrize(
    ("tools", "expectations"),
    [
        (
            [
                t("addBooking", "Put a stay on the calendar", server="hotel"),
                t("addGuest", "Store a person's details", server="hotel"),
                t("addInvoiceLine", "Charge an extra to a stay", server="hotel"),
            ],
            [
                ("loaded", "addGuest", "addGuest", "add guest", "addguest", "ADD_GUEST", "AddGuest"),
                ("loaded", "addGuest", "add-guest", "add_guest", "guest"),
                ("loaded", "addGuest", "hotel__addGuest", "hotel.addGuest"),
            ],
        ),
        (
            [
                t("ticket-close", "Mark it as done"),
                t("ticket-assign", "Give it to somebody"),
                t("ticket-merge", "Join two"),
            ],
            [
                ("loaded", "ticket-assign", "ticketAssign", "TICKET_ASSIGN", "ticketassign"),
                ("loaded", "ticket-assign", "assign", "assign ticket"),
            ],
        ),
        (
            [
                t("счёт_создать", "Новый документ"),
                t("счёт_удалить", "Убрать документ"),
                t("счёт_отправить", "Послать"),
            ],
            [("loaded", "счёт_удалить", "счёт удалить", "Счёт-Удалить", "СЧЁТУДАЛИТЬ", "удалить")],
        ),
        (
            [
                t("uploadS3File", "Store an object"),
                t("getIPv6Address", "Where a machine is"),
                t("k8s_pod_list", "Show what runs"),
                t("ConvertMP3", "Change the sound"),
            ],
            [
                ("loaded", "uploadS3File", "S3", "s3", "upload to s3"),
                ("loaded", "getIPv6Address", "ipv6", "IPv6"),
                ("loaded", "k8s_pod_list", "K8s", "K8S pods"),
                ("loaded", "ConvertMP3", "mp3", "MP3"),
            ],
        ),
        (
            [t(f"Depot{what}Melden", "Vorgang im Lager") for what in ("Ausfall", "Umzug", "Rest", "Zugang")]
            + [t("StraßeSuchen", "Ort im Plan"), t("StraßeSperren", "Ort im Plan")],
            [
                ("loaded", "StraßeSperren", "STRASSE_SPERREN", "strasse-sperren", "straßesperren"),
                ("loaded", "StraßeSperren", "Straße sperren", "sperren"),
            ],
        ),
        (
            [
                t("κράτηση_προσθήκη", "Νέα εγγραφή"),
                t("κράτηση_διαγραφή", "Αφαίρεση"),
                t("πελάτης_λίστα", "Όλοι"),
            ],
            [
                ("loaded", "κράτηση_διαγραφή", "ΚΡΑΤΗΣΗ_ΔΙΑΓΡΑΦΗ", "κράτηση διαγραφή", "Κράτηση-Διαγραφή"),
                ("loaded", "πελάτης_λίστα", "ΠΕΛΑΤΗΣ", "ΠΕΛΑΤΗΣ_ΛΙΣΤΑ"),
            ],
        ),
    ],
    ids=["reported", "kebab", "cyrillic snake", "digits", "german pascal", "greek"],
)
def test_bc01_case_styles_of_a_name(check, tools, expectations):
    """Kind: identifiers. A name is found in any case style, as a whole and by its words."""
    check(tools, *expectations)


@pytest.mark.parametrize(
    ("tools", "expectations"),
    [
        (
            [
                t("board_create_edge", "Links two shapes."),
                t("board_create_shape", "Adds a rectangle or circle."),
                t("board_export", "Renders to PNG."),
            ],
            [
                ("loaded", "board_create_edge", "create edge", "edge"),
                ("loaded", "board_export", "export board"),
            ],
        ),
        (
            [
                t(f"warehouse{what}", "Works with the stock.")
                for what in ("CountPallets", "MovePallet", "PrintLabel", "CloseShift")
            ],
            [
                ("loaded", "warehousePrintLabel", "print label", "label"),
                ("loaded", "warehouseCloseShift", "shift close"),
            ],
        ),
        (
            [t("音楽_再生", "音を出す"), t("音楽_停止", "音を止める"), t("音楽_検索", "曲を探す")],
            [("loaded", "音楽_停止", "停止", "音楽の停止"), ("loaded", "音楽_検索", "検索")],
        ),
        (
            [
                t(f"fleet.vehicle.{what}", "Fleet operation.")
                for what in ("lock", "unlock", "refuel", "inspect", "tow", "wash")
            ],
            [
                ("loaded", "fleet.vehicle.refuel", "refuel", "refuel vehicle"),
                ("loaded", "fleet.vehicle.tow", "tow"),
            ],
        ),
        (
            [t(f"बिल_{what}", "ग्राहक का काम।") for what in ("बनाओ", "भेजो", "हटाओ", "छापो")],
            [("loaded", "बिल_छापो", "छापो", "बिल छापो"), ("loaded", "बिल_हटाओ", "हटाओ")],
        ),
        (
            [
                t(f"Lab::{noun}::{verb}", "Part of the laboratory.")
                for noun in ("Sample", "Reagent", "Freezer", "Centrifuge")
                for verb in ("Register", "Discard", "Label", "Move", "Audit")
            ],
            [
                ("loaded", "Lab::Reagent::Discard", "discard reagent", "reagent discard"),
                ("loaded", "Lab::Freezer::Audit", "audit freezer", "freezer audit"),
            ],
        ),
    ],
    ids=["reported", "camel", "japanese", "dotted", "hindi", "colons"],
)
def test_bc02_words_of_the_name_that_the_description_lacks(check, tools, expectations):
    """Kind: identifiers. The words of a name count, whatever divides them."""
    check(tools, *expectations)


@pytest.mark.parametrize(
    ("tools", "spelled", "bare"),
    [
        (
            [t("mcp__plugin_lab_x__ask_oracle", "Delegate a question")]
            + [
                t(f"mcp__plugin_lab_x__job_{verb}", f"{verb} a background job")
                for verb in ("start", "stop", "status", "list", "wait", "tail")
            ],
            ["ask_oracle", "ask oracle"],
            "ask_oracle",
        ),
        (
            [t("acme.crm.v2/leadScore", "How likely a sale is")]
            + [t(f"acme.crm.v2/deal{what}", f"{what} a deal") for what in ("Close", "Open", "Move", "Split")],
            ["leadScore", "lead_score", "lead score"],
            "leadScore",
        ),
        (
            [t("mcp__気象__降水量", "雨の量")]
            + [t(f"mcp__気象__{what}", "観測値") for what in ("気温", "風速", "湿度")],
            ["降水量", "降水量を見せて"],
            "降水量",
        ),
        (
            [t("mcp__склад__остаток_товара", "Сколько есть")]
            + [t(f"mcp__склад__{what}", "Работа склада") for what in ("приём", "отгрузка", "поиск")],
            ["остаток_товара", "остаток товара", "ОСТАТОК"],
            "остаток_товара",
        ),
        (
            [t("functions.garden.waterPlants", "Moisten the beds")]
            + [t(f"functions.garden.zone{i}", f"State of garden zone {i}") for i in range(120)],
            ["waterPlants", "water_plants", "water plants"],
            "waterPlants",
        ),
    ],
    ids=["reported", "path", "japanese", "cyrillic", "120 dotted"],
)
def test_bc03_the_bare_name_without_a_prefix(check, search_of, tools, spelled, bare):
    """Kind: identifiers. The part of a name behind its prefix finds and selects the tool."""
    name = tools[0]["name"]
    check(tools, ("loaded", name, *spelled))
    assert [hit.tool.name for hit in search_of(tools).search(names=[bare]).tools] == [name]


@pytest.mark.parametrize(
    ("tools", "expectations"),
    [
        (
            [
                t("create_issue", "Open a ticket", server="orbit"),
                t("list_cycles", "Planning periods", server="orbit"),
                t("mcp__harvest__get_meetings", "Meetings with notes", server="harvest"),
                t("mcp__harvest__get_people", "Attendees", server="harvest"),
            ],
            [
                ("within3", "create_issue list_cycles", "orbit"),
                ("within3", "mcp__harvest__get_meetings mcp__harvest__get_people", "harvest"),
                ("nothing", "", "mcp"),
            ],
        ),
        (
            [
                t("add", "New entry", server="Nimbus-CRM"),
                t("drop", "Remove entry", server="Nimbus-CRM"),
                t("ping", "Is it there", server="zephyr"),
                t("mcp__zephyr__pong", "Answer", server="zephyr"),
            ],
            [
                ("within3", "add drop", "nimbus", "Nimbus CRM"),
                ("within3", "ping mcp__zephyr__pong", "zephyr"),
                ("nothing", "", "MCP"),
            ],
        ),
        (
            [
                t("開く", "表示する", server="図書館"),
                t("閉じる", "終了する", server="図書館"),
                t("歌う", "声を出す", server="音楽"),
            ],
            [("within3", "開く 閉じる", "図書館"), ("within3", "歌う", "音楽")],
        ),
        (
            [
                t("أضف", "سجل جديد", server="عيادة"),
                t("احذف", "إزالة سجل", server="عيادة"),
                t("mcp__بنك__تحويل", "إرسال مال", server="بنك"),
                t("mcp__بنك__رصيد", "المبلغ الباقي", server="بنك"),
            ],
            [
                ("within3", "أضف احذف", "عيادة"),
                ("within3", "mcp__بنك__تحويل mcp__بنك__رصيد", "بنك"),
                ("nothing", "", "mcp"),
            ],
        ),
    ],
    ids=["reported", "kebab", "japanese", "arabic"],
)
def test_bc12_the_server_s_name_as_the_query(check, tools, expectations):
    """Kind: identifiers. A server's name finds its tools; a prefix that all tools bear finds none."""
    check(tools, *expectations)


WRAPPED = ["{}", "`{}`", '"{}".', " {} ", "{}()", "({})", "**{}**", "“{}”", "{}(x=1)", "{}:", "'{}'!"]


@pytest.mark.parametrize("ranker", ["hybrid", "semantic", "bm25", "keyword", "regex"])
@pytest.mark.parametrize(
    ("tools", "name", "restyled"),
    [
        (
            [
                t("read_file", "Text of a file"),
                t("read_file_lines", "read_file for part of a file; like read_file, read_file"),
                t("file_reader_config", "Settings of the file reader"),
            ],
            "read_file",
            "Read_File",
        ),
        (
            [
                t("sendMail", "Post"),
                t("sendMailLater", "sendMail at a time: sendMail, sendMail, sendMail"),
                t("mailSender", "Who sends mail"),
            ],
            "sendMail",
            "send-mail",
        ),
        (
            [t("検索", "探す"), t("検索履歴", "検索の検索、検索した検索"), t("再検索", "検索をもう一度")],
            "検索",
            "検索",
        ),
        (
            [
                t("отчёт.создать", "Новый"),
                t("отчёт.создать.копию", "отчёт.создать ещё раз: отчёт.создать, отчёт.создать"),
                t("отчёты", "Создать и найти отчёт"),
            ],
            "отчёт.создать",
            "ОтчётСоздать",
        ),
    ],
    ids=["reported", "camel", "japanese", "cyrillic dotted"],
)
def test_bc14_an_exact_name_wrapped(search_of, ranker, tools, name, restyled):
    """Kind: identifiers. A name in quotes, backticks, call brackets or another style is the name."""
    search = search_of(tools, ranker=ranker)
    for query in [*(wrapping.format(name) for wrapping in WRAPPED), restyled]:
        result = search.search(query)
        assert [hit.tool.name for hit in result.tools] == [name], query
