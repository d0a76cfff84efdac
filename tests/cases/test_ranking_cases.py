"""Failures of other tool searches, from public reports: ranking, arguments and permissions.

Each test has the reported case first and then catalogs of the same kind that differ in domain, script, naming style
and size: a fix that knows the case's words is no fix. Rules of an expectation: ``first`` is rank 1, loaded or listed
as a hint; ``loaded`` is rank 1 and loaded; ``within3`` is among the first three, loaded or listed; ``nothing`` loads
no tool; ``absent`` is neither loaded nor listed.
"""

from __future__ import annotations

import numpy as np
import pytest

from semantic_toolsearch import EmbeddingCache, ToolSearch

ORDERS = ["as given", "reversed", 1, 2]


def obj(**props):
    return {"type": "object", "properties": props}


def t(name, description="", parameters=None, server=None):
    schema = obj() if parameters is None else parameters
    return {"name": name, "description": description, "parameters": schema, "namespace": server}


@pytest.fixture(params=ORDERS, ids=str)
def order(request):
    """Puts tools into one registration order."""

    def arrange(tools):
        if request.param == "as given":
            return list(tools)
        if request.param == "reversed":
            return list(tools)[::-1]
        return [tools[place] for place in np.random.default_rng(request.param).permutation(len(tools))]

    return arrange


@pytest.fixture(scope="session")
def embeddings(tmp_path_factory):
    """One cache for all cases, so that shuffled catalogs embed their texts once."""
    return EmbeddingCache(tmp_path_factory.mktemp("cases") / "embeddings.sqlite3")


@pytest.fixture
def search_of(order, model, embeddings):
    def build(tools, **options):
        return ToolSearch(order(tools), **{"embedder": model, "cache": embeddings, **options})

    return build


@pytest.fixture
def check(search_of):
    """Checks expectations ``(rule, names, *queries)`` with the default ranker."""

    def run(tools, *expectations):
        search = search_of(tools)
        broken = []
        for rule, wanted, *queries in expectations:
            names = wanted.split()
            for query in queries:
                result = search.search(query)
                tools_found = [hit.tool.name for hit in result.tools]
                listed = [*tools_found, *(hit.tool.name for hit in result.hints)]
                holds = {
                    "first": listed[:1] == names,
                    "loaded": tools_found[:1] == names,
                    "within3": set(names) <= set(listed[:3]),
                    "nothing": not tools_found and result.outcome == "no_match",
                    "absent": not set(names) & set(listed),
                }[rule]
                if not holds:
                    broken.append((query, rule, names, tools_found, listed[len(tools_found) :]))
        assert broken == []

    return run


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
                (
                    "loaded",
                    "addGuest",
                    "addGuest",
                    "add guest",
                    "addguest",
                    "ADD_GUEST",
                    "AddGuest",
                    "add-guest",
                    "guest",
                )
            ],
        ),
        (
            [
                t("ticket-close", "Mark it as done"),
                t("ticket-assign", "Give it to somebody"),
                t("ticket-merge", "Join two"),
            ],
            [
                (
                    "loaded",
                    "ticket-assign",
                    "ticketAssign",
                    "TICKET_ASSIGN",
                    "ticketassign",
                    "assign",
                    "assign ticket",
                )
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
    ],
    ids=["camel", "kebab", "cyrillic snake", "digits"],
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
    ],
    ids=["snake", "camel", "japanese", "dotted"],
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
    ],
    ids=["mcp", "path", "japanese"],
)
def test_bc03_the_bare_name_without_a_prefix(check, search_of, tools, spelled, bare):
    """Kind: identifiers. The part of a name behind its prefix finds and selects the tool."""
    name = tools[0]["name"]
    check(tools, ("loaded", name, *spelled))
    assert [hit.tool.name for hit in search_of(tools).search(names=[bare]).tools] == [name]


VAULTS = (
    "get_vaults_by_vault_id get_vaults_keys get_vaults_keys_rotations get_vaults_policies_lists "
    "get_vaults_policies_lists_items get_vaults_logs_list put_vaults_by_vault_id get_vaults_access_lists "
    "get_vaults_secrets_versions delete_vaults_by_vault_id"
)


@pytest.mark.parametrize(
    ("tools", "base", "words"),
    [
        (
            [
                t("get_vaults", "List Vaults"),
                *(t(n, n.replace("_", " ").capitalize()) for n in VAULTS.split()),
            ],
            "get_vaults",
            ["vaults", "list vaults", "get vaults list"],
        ),
        (
            [t("listContainers", "Lists containers")]
            + [
                t(f"listContainers{sub}", f"List containers {sub.lower()}")
                for sub in (
                    "Images",
                    "Logs",
                    "Events",
                    "Stats",
                    "Volumes",
                    "Networks",
                    "Processes",
                    "Mounts",
                    "Ports",
                )
            ],
            "listContainers",
            ["containers", "list containers", "container list"],
        ),
        (
            [t("查询订单", "查询订单")]
            + [
                t(f"查询订单{sub}", f"查询订单的{sub}")
                for sub in ("明细", "物流", "发票", "退款", "评价", "日志")
            ],
            "查询订单",
            ["订单", "查询一下订单"],
        ),
    ],
    ids=["snake", "camel", "chinese"],
)
def test_bc04_a_short_base_tool_among_its_sub_resources(check, tools, base, words):
    """Kind: siblings. The tool about the thing itself is not swamped by those about its parts."""
    check(tools, ("within3", base, *words), ("loaded", base, base, f"`{base}`"))


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
    ],
    ids=["snake", "camel", "german"],
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
    ],
    ids=["snake", "camel", "kebab", "cyrillic"],
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
    ],
    ids=["english", "acronyms", "russian"],
)
def test_bc07_word_forms(check, tools, expectations):
    """Kind: word forms. Endings do not keep a word from its base form."""
    check(tools, *expectations)


@pytest.mark.parametrize(
    ("tools", "expectations"),
    [
        (
            [
                t("tide_table", "港の満潮と干潮の時刻を調べます"),
                t("ferry_times", "フェリーの出発時刻を一覧します"),
                t("berth_book", "係留場所を予約します"),
            ],
            [
                ("loaded", "tide_table", "満潮", "明日の満潮は何時か調べて"),
                ("loaded", "berth_book", "係留の予約をしたい"),
            ],
        ),
        (
            [t("weather", "查询某个城市的天气预报"), t("train", "预订火车票"), t("hotel", "查找酒店房间")],
            [
                ("loaded", "weather", "天气", "查天气预报"),
                ("first", "weather", "北京明天天气怎么样"),
                ("loaded", "train", "我想订一张火车票"),
                ("loaded", "hotel", "帮我找酒店"),
            ],
        ),
        (
            [
                t("photoFind", "查找猫的图片"),
                t("songPlay", "播放一首歌"),
                t("薬検索", "薬の効き目と飲み方を調べます"),
            ],
            [
                ("loaded", "photoFind", "猫"),
                ("loaded", "songPlay", "歌"),
                ("loaded", "薬検索", "薬"),
                ("first", "薬検索", "薬について知りたい"),
            ],
        ),
        (
            [
                t("flightSearch", "ค้นหาเที่ยวบิน"),
                t("roomBook", "จองห้องพักโรงแรม"),
                t("moneyChange", "แปลงสกุลเงิน"),
            ],
            [("loaded", "flightSearch", "เที่ยวบิน"), ("loaded", "roomBook", "อยากจองโรงแรม")],
        ),
        (
            [
                t("order-cancel", "주문을 취소합니다"),
                t("track", "배송을 조회합니다"),
                t("refund", "환불을 요청합니다"),
            ],
            [("loaded", "track", "배송", "배송 조회"), ("first", "refund", "환불하고 싶어요")],
        ),
        (
            [t("flight", "حجز رحلة طيران"), t("restaurant", "البحث عن مطعم"), t("currency", "تحويل العملات")],
            [("loaded", "restaurant", "مطعم"), ("loaded", "currency", "العملة")],
        ),
        (
            [t("balance", "खाते का शेष राशि देखें"), t("transfer", "पैसे भेजें"), t("bill", "बिल का भुगतान करें")],
            [("loaded", "bill", "भुगतान"), ("loaded", "transfer", "पैसे भेजो")],
        ),
    ],
    ids=["japanese", "chinese", "one ideograph", "thai", "korean", "arabic", "hindi"],
)
def test_bc08_x18_texts_without_spaces_and_other_scripts(check, tools, expectations):
    """Kind: languages. A word of the description is found in any script, with or without spaces."""
    check(tools, *expectations)


@pytest.mark.parametrize(
    ("tools", "queries"),
    [
        (
            [t("home__bedtime_lights")]
            + [
                t(
                    f"home__get_entity_history_{i}",
                    f"Get the history of entity number {i} of the home, with lights and times",
                )
                for i in range(60)
            ],
            ["bedtime lights", "bedtime_lights"],
        ),
        (
            [t("lawnMowerPause")]
            + [
                t(
                    f"deviceReport{i}",
                    f"Report on device {i}: lawn mower, heater, pump and their pause times and errors",
                )
                for i in range(120)
            ],
            ["lawn mower pause", "pause the lawn mower", "pause mower", "lawn_mower_pause"],
        ),
        (
            [t("給湯器停止")]
            + [
                t(f"機器履歴{i}", f"機器{i}の履歴を表示します。給湯器や照明の停止時刻も含みます")
                for i in range(40)
            ],
            ["給湯器停止"],
        ),
    ],
    ids=["snake", "camel", "japanese"],
)
def test_bc09_a_thin_description_among_verbose_siblings(check, tools, queries):
    """Kind: siblings. A tool with nothing but a telling name is found among many wordy ones."""
    check(tools, ("loaded", tools[0]["name"], *queries))


@pytest.mark.parametrize(
    ("tools", "expectations"),
    [
        (
            [
                t(
                    "poster_create",
                    "Create a poster. Posters can later be edited, renamed, read, exported, edited again with the "
                    "poster editor; create posters for editing, renaming and reading.",
                ),
                t(
                    "poster_edit",
                    "Edit a poster. "
                    + "Give the exact text to replace and the new text. " * 12
                    + "Use it to change colours or a chart.",
                ),
                t("poster_rename", "Rename a poster."),
            ],
            [
                ("loaded", "poster_rename", "rename the poster"),
                ("loaded", "poster_edit", "change the colours of a chart in the poster"),
                ("loaded", "poster_create", "create a poster"),
            ],
        ),
        (
            [
                t(
                    "serverCreate",
                    "Create a server. A server may be restarted, resized, deleted, restarted again or moved; create "
                    "servers to resize, restart and delete them.",
                ),
                t(
                    "serverResize",
                    "Resize a server. " + "State the reason, which is kept for the auditors. " * 10,
                ),
                t("serverDelete", "Delete a server."),
            ],
            [
                ("loaded", "serverResize", "resize the server"),
                ("loaded", "serverDelete", "delete a server"),
                ("loaded", "serverCreate", "create a new server"),
            ],
        ),
        (
            [
                t("会议创建", "创建会议。会议之后可以取消、改期、取消后恢复、导出，创建会议以便改期和取消。"),
                t("会议改期", "把会议改到别的时间。" + "请写明原因，原因会保存在日志里。" * 10),
                t("会议取消", "取消会议。"),
            ],
            [
                ("loaded", "会议取消", "取消会议"),
                ("loaded", "会议改期", "会议改期"),
                ("loaded", "会议创建", "创建会议"),
            ],
        ),
    ],
    ids=["snake", "camel", "chinese"],
)
def test_bc10_x20_a_keyword_dense_description_is_no_magnet(check, tools, expectations):
    """Kind: siblings. A tool that mentions its neighbours' verbs does not attract their requests."""
    check(tools, *expectations)


@pytest.mark.parametrize(
    ("tools", "expectations"),
    [
        (
            [t("forecast_get", "Weather forecast for a place"), t("mail_send", "Send a mail")],
            [("loaded", "forecast_get", "weather forecast", "forecast weather")],
        ),
        (
            [t("forecast_get", "Weather forecast for a place")],
            [("loaded", "forecast_get", "weather forecast", "weather")],
        ),
        ([t("翻訳", "文章を翻訳します")], [("loaded", "翻訳", "翻訳して", "翻訳")]),
        (
            [
                t("forecastGet", "Weather forecast"),
                t("radarShow", "Weather radar"),
                t("alertList", "Weather alerts"),
            ],
            [("within3", "forecastGet radarShow alertList", "weather")],
        ),
    ],
    ids=["two", "one", "one japanese", "all share the word"],
)
def test_bc11_tiny_catalogs(check, search_of, tools, expectations):
    """Kind: arithmetic. Weights stay positive with one tool, with two, and for a word that all share."""
    check(tools, *expectations)
    words = search_of(tools, ranker="bm25").search(expectations[0][2])
    assert {hit.tool.name for hit in words.tools} == set(expectations[0][1].split())


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
    ],
    ids=["orbit", "kebab", "japanese"],
)
def test_bc12_the_server_s_name_as_the_query(check, tools, expectations):
    """Kind: identifiers. A server's name finds its tools; a prefix that all tools bear finds none."""
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
    ],
    ids=["flat", "nested", "german"],
)
def test_bc13_parameters_and_enum_values(check, tools, expectations):
    """Kind: topic. Words of parameters, their descriptions and their values find the tool."""
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
    ],
    ids=["snake", "camel", "japanese"],
)
def test_bc14_an_exact_name_wrapped(search_of, ranker, tools, name, restyled):
    """Kind: identifiers. A name in quotes, backticks, call brackets or another style is the name."""
    search = search_of(tools, ranker=ranker)
    for query in [*(wrapping.format(name) for wrapping in WRAPPED), restyled]:
        result = search.search(query)
        assert [hit.tool.name for hit in result.tools] == [name], query


@pytest.mark.parametrize(
    ("tools", "asked", "unknown", "near"),
    [
        (
            [t(f"tool_{c}", "x") for c in "abcdefghij"],
            [f"tool_{c}" for c in "hagbfced"],
            "tool_zz",
            "tool_",
        ),
        (
            [
                t(f"set{what}", "x", server="lamp")
                for what in ("Hue", "Glow", "Fade", "Blink", "Scene", "Timer", "Group", "Name")
            ],
            ["setTimer", "setHue", "setName", "setBlink", "setFade", "setGlow"],
            "setTimr",
            "lamp__setTimer",
        ),
        (
            [t(f"操作{number}", "x") for number in range(30)],
            [f"操作{number}" for number in (29, 3, 15, 0, 8, 21, 11)],
            "操作99",
            "操作",
        ),
    ],
    ids=["letters", "camel", "japanese"],
)
def test_bc15_x12_named_loads_are_not_cut_at_the_limit(search_of, tools, asked, unknown, near):
    """Kind: selection. All tools asked for by name come, in the order asked, and the unknown one is reported."""
    result = search_of(tools).search(names=[*asked, unknown], limit=5)
    assert [hit.tool.name for hit in result.tools] == asked
    assert [missing.name for missing in result.unknown] == [unknown]
    assert result.unknown[0].nearest
    if near.startswith("lamp"):
        assert result.unknown[0].nearest[0] == near


@pytest.mark.parametrize(
    ("tools", "query"),
    [
        ([t(f"report_{i}", "Monthly report") for i in range(12)], "monthly report"),
        ([t("export", "Write a table", server=f"s{i}") for i in range(70)], "write a table"),
        ([t(f"機能{i}", "月次報告を作成") for i in range(12)], "月次報告"),
    ],
    ids=["numbered", "one name", "japanese"],
)
@pytest.mark.parametrize("ranker", ["hybrid", "bm25", "keyword", "semantic"])
def test_bc16_same_question_same_answer(model, embeddings, ranker, tools, query):
    """Kind: determinism. Registration order changes nothing; ties are broken by name."""
    answers = []
    for seed in range(5):
        shuffled = [tools[place] for place in np.random.default_rng(seed).permutation(len(tools))]
        search = ToolSearch(shuffled, ranker=ranker, embedder=model, cache=embeddings)
        for _ in range(2):
            result = search.search(query)
            answers.append([hit.name for hit in (*result.tools, *result.hints)])
    assert all(answer == answers[0] for answer in answers)
    assert answers[0]
    if ranker in ("bm25", "keyword"):
        assert answers[0] == sorted(answers[0])


@pytest.mark.parametrize(
    ("tools", "queries"),
    [
        (
            [
                t("incident_open", "Open an incident and notify by email"),
                t("incident_escalate", "Raise the level of an incident, email optional"),
                t("team_members", "Members of a team with their email"),
                t("team_remove", "Remove a member by email"),
                t("oncall_now", "Who is on call"),
            ],
            ["read google calendar events", "translate a pdf into french"],
        ),
        (
            [
                t("invoiceCreate", "Create an invoice for a customer", server="billing"),
                t("invoiceSend", "Send an invoice to a customer", server="billing"),
                t("customerList", "List the customers", server="crm"),
                t("customerDelete", "Delete a customer", server="crm"),
            ],
            ["play some jazz music", "book a flight to Rome", "send a rocket to the moon"],
        ),
        (
            [
                t(f"git-{verb}", f"{verb.capitalize()} the repository")
                for verb in ("clone", "push", "pull", "fetch", "reset")
            ],
            ["order a pizza", "what is the weather in Berlin"],
        ),
        (
            [
                t("天気", "天気予報を取得します"),
                t("乗換", "電車の乗換を調べます"),
                t("文章翻訳", "文章を翻訳します"),
            ],
            ["株を購入したい", "ピザを注文して"],
        ),
        (
            [
                t("погода", "Получить прогноз погоды"),
                t("такси", "Заказать такси"),
                t("перевод", "Перевести текст"),
            ],
            ["удалить базу данных", "включи музыку"],
        ),
    ],
    ids=["incidents", "billing", "git", "japanese", "russian"],
)
def test_bc17_x05_d23_nothing_answers_the_query(search_of, tools, queries):
    """Kind: no answer. Nothing is loaded for a common word; the reply is small and lists what there is."""
    search = search_of(tools)
    for query in queries:
        result = search.search(query)
        assert (result.outcome, [hit.name for hit in result.tools]) == ("no_match", []), query
        assert set(result.names) == set(search.catalog.wire_names)
        assert {space for space, _ in result.namespaces} == {tool["namespace"] for tool in tools} - {None}
        assert len(str(result.as_dict())) < 2_500


@pytest.mark.parametrize(
    "call", [{}, {"query": None}, *({"query": text} for text in ("", "   ", "*", "...", " \n ", "?!", "**"))]
)
@pytest.mark.parametrize(
    "tools",
    [
        [t(f"tool_{i}", "something") for i in range(40)],
        [t(f"機能{i}", "何か", server="道具") for i in range(140)],
        [t("only", "the one")],
    ],
    ids=["forty", "japanese server", "one"],
)
def test_bc18_an_empty_missing_or_wildcard_query_browses(tools, call):
    """Kind: arguments. A query that asks nothing lists names and the total, and loads nothing."""
    rankers = ["bm25", "keyword"] if call.get("query") in ("?!", "**") else ["bm25", "keyword", "regex"]
    for ranker in rankers:  # signs alone may be a pattern
        result = ToolSearch(tools, ranker=ranker).search(**call)
        assert (result.outcome, result.tools, result.hints) == ("browse", (), ())
        assert result.total == len(tools)
        assert len(result.names) == min(len(tools), 100)


@pytest.mark.parametrize(
    ("limit", "count"),
    [(-1, 1), (0, 1), (10**9, 20), ("3", 3), (2.7, 2), (None, 5), (True, 5), ("many", 5), ([], 5)],
)
@pytest.mark.parametrize(
    ("tools", "query"),
    [
        ([t(f"mail_{verb}", f"{verb} a mail") for verb in ("send", "read", "move", "flag")], "mail"),
        ([t(f"photo{i:02}", "Edit a photo") for i in range(25)], "photo"),
        ([t(f"メール{i:02}", "メールを扱う") for i in range(25)], "メール"),
    ],
    ids=["four", "camel", "japanese"],
)
def test_bc19_odd_limits(search_of, tools, query, limit, count):
    """Kind: arguments. A limit is clamped or defaulted and the reply says so; nothing comes from the wrong end."""
    search = search_of(tools, ranker="bm25")
    result, everything = search.search(query, limit=limit), search.search(query, limit=20)
    assert [hit.name for hit in result.tools] == [hit.name for hit in everything.tools][:count]
    assert bool(result.notes) == (limit is not None)


@pytest.mark.parametrize(
    ("tools", "expectations"),
    [
        (
            [
                t("cpp_build", "Compile a C++ target"),
                t("cs_build", "Compile a C# project"),
                t("env_show", "Show the .env file"),
                t("ab_test", "Run an A/B test"),
            ],
            [
                ("loaded", "cpp_build", "C++", "c++ (target)"),
                ("loaded", "cs_build", "C#", "`C#`"),
                ("loaded", "env_show", ".env"),
                ("loaded", "ab_test", "A/B"),
            ],
        ),
        (
            [
                t("dotnetNew", "Start a .NET project"),
                t("pipelineState", "CI/CD pipeline"),
                t("scriptRun", "Run an F# script"),
                t("costShow", "R&D costs"),
                t("nodeRun", "Run Node.js code"),
                t("mentions", "Find @mentions"),
            ],
            [
                ("loaded", "dotnetNew", ".NET", '".net"'),
                ("loaded", "pipelineState", "CI/CD"),
                ("loaded", "scriptRun", "F#"),
                ("loaded", "costShow", "R&D"),
                ("loaded", "nodeRun", "Node.js"),
                ("loaded", "mentions", "@mentions"),
            ],
        ),
        (
            [t("言語_一", "C++を翻訳する"), t("言語_二", "C#を翻訳する"), t("言語_三", "Cを翻訳する")],
            [("loaded", "言語_一", "C++ を翻訳する"), ("loaded", "言語_二", "C# を翻訳する")],
        ),
    ],
    ids=["snake", "camel", "japanese"],
)
def test_bc20_punctuation_that_carries_meaning(check, tools, expectations):
    """Kind: arguments. Signs that make a word another word count, and none is an error."""
    check(tools, *expectations)


@pytest.mark.parametrize("ranker", ["hybrid", "semantic", "bm25", "keyword", "regex"])
@pytest.mark.parametrize(
    ("tools", "hidden", "queries"),
    [
        (
            [t("payroll_export", "Export salaries"), t("payslip_mine", "My own payslip")],
            "payroll_export",
            [
                "export salaries",
                "payroll_export",
                "`payroll_export`",
                "payroll",
                "",
                "no such thing",
                "load payroll_export",
            ],
        ),
        (
            [
                t("wipeDisk", "Erase everything", server="root"),
                t("df", "Free space", server="ops"),
                t("wipe_dust", "Clean"),
            ],
            "wipeDisk",
            [
                "erase everything",
                "wipeDisk",
                "root.wipeDisk",
                "root__wipeDisk",
                "root",
                "wipe_disk",
                "",
                "nothing",
                ".*",
            ],
        ),
        (
            [t("給与一覧", "全員の給与", server="人事"), t("自分の給与", "自分の給与明細")],
            "給与一覧",
            ["全員の給与", "給与一覧", "人事", "「給与一覧」", "", "存在しない"],
        ),
    ],
    ids=["snake", "camel", "japanese"],
)
def test_bc48_x11_a_forbidden_tool_leaks_nowhere(search_of, ranker, tools, hidden, queries):
    """Kind: permissions. A tool that the caller may not see is in no hit, hint, name, count or trace."""
    search = search_of(tools, ranker=ranker)
    position = next(place for place, tool in enumerate(search.catalog) if tool.name == hidden)
    wire, space = search.catalog.wire_names[position], search.catalog[position].namespace
    visible = [name for name in search.catalog.wire_names if name != wire]
    for ask in [*({"query": query} for query in queries), {"names": [hidden, wire]}]:
        result = search.search(**ask, visible=visible)
        found = [hit.tool.name for hit in (*result.tools, *result.hints)]
        suggested = [name for unknown in result.unknown for name in unknown.nearest]
        assert hidden not in found
        assert wire not in [*result.names, *suggested]
        assert space is None or space not in dict(result.namespaces)
        assert result.total == len(tools) - 1
    named, unknown = (
        search.search(names=[hidden], visible=visible),
        search.search(names=["zzz"], visible=visible),
    )
    assert (named.outcome, named.names, named.total) == (unknown.outcome, unknown.names, unknown.total)
    explained = search.explain(queries[0], wire, visible=visible)
    assert (explained.verdict, explained.rank, explained.arms, explained.fields) == (
        "not visible",
        None,
        {},
        {},
    )


@pytest.mark.parametrize("ranker", ["hybrid", "semantic", "bm25", "keyword", "regex"])
@pytest.mark.parametrize(
    "tools",
    [[t("x", "y")], [t("doIt", "y", server="s"), t("undo_it", "y")], [t("検索", "探す")]],
    ids=["one", "two", "japanese"],
)
def test_bc49_x11_an_empty_allow_list_allows_nothing(search_of, ranker, tools):
    """Kind: permissions. An empty set of visible tools is no set at all, not all tools."""
    search = search_of(tools, ranker=ranker)
    for ask in (
        {"query": tools[0]["name"]},
        {"query": "y"},
        {"query": ""},
        {"names": [tools[0]["name"]]},
        {"query": ".*"},
    ):
        result = search.search(**ask, visible=set())
        assert (result.tools, result.hints, result.names, result.namespaces, result.total) == (
            (),
            (),
            (),
            (),
            0,
        )
        assert [unknown.nearest for unknown in result.unknown] in ([], [()])


@pytest.mark.parametrize(
    ("tools", "expectations"),
    [
        (
            [
                t(
                    "super_helper",
                    "email calendar refund order invoice search file send " * 200,
                    server="unknown",
                ),
                t("refund_order", "Give the money back for an order", server="shop"),
                t("send_email", "Send an email", server="mail"),
            ],
            [("loaded", "refund_order", "refund an order"), ("loaded", "send_email", "send an email")],
        ),
        (
            [
                t("universal", "translate weather currency flight hotel convert book cancel customer " * 300),
                t("currencyConvert", "Change an amount into another currency"),
                t("flightCancel", "Cancel a booked flight"),
                t("hotelBook", "Reserve a hotel room"),
            ],
            [
                ("loaded", "currencyConvert", "convert currency"),
                ("loaded", "flightCancel", "cancel my flight", "cancel the flight of a customer"),
                ("loaded", "hotelBook", "book a hotel for the customer"),
            ],
        ),
        (
            [
                t("万能助手", "翻译 天气 航班 酒店 退款 订单 " * 200),
                t("退款申请", "为订单申请退款"),
                t("天气查询", "查询城市天气"),
            ],
            [("loaded", "退款申请", "申请退款", "订单退款"), ("loaded", "天气查询", "查询天气")],
        ),
    ],
    ids=["snake", "camel", "chinese"],
)
def test_bc50_x20_keyword_stuffing_does_not_win(check, tools, expectations):
    """Kind: security. A description that lists every word a request may have is not the answer to it."""
    check(tools, *expectations)
