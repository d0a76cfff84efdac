"""Failures of other tool searches, from public reports: tools among many that resemble them (BC-04, BC-09, BC-10)."""

from __future__ import annotations

import pytest
from case_tools import t

VAULTS = [t("get_vaults", "List Vaults")] + [
    t(name, name.replace("_", " ").capitalize())
    for name in (
        "get_vaults_by_vault_id",
        "get_vaults_keys",
        "get_vaults_keys_rotations",
        "get_vaults_policies_lists",
        "get_vaults_policies_lists_items",
        "get_vaults_logs_list",
        "put_vaults_by_vault_id",
        "get_vaults_access_lists",
        "get_vaults_secrets_versions",
        "delete_vaults_by_vault_id",
    )
]
USERS = [t("GET /users", "List users")] + [
    t(f"{verb} /users/{{id}}/{sub}", f"{verb.capitalize()} {sub} of users")
    for verb in ("GET", "PUT", "DELETE")
    for sub in ("roles", "keys", "teams", "sessions", "devices", "lists", "list/items", "photos")
]
REPORTS = [t("cafetera_apagar")] + [
    t(f"informe_{i}", f"Informe {i} de la casa: cafetera, horno y lavadora, y horas de apagar cada uno")
    for i in range(200)
]


@pytest.mark.parametrize(
    ("tools", "base", "words"),
    [
        (
            VAULTS,
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
            [t("список-складов", "Список складов")]
            + [
                t(f"список-складов-{sub}", f"Список складов: {sub}")
                for sub in ("ключи", "журналы", "права", "секреты", "версии", "политики", "метки", "события")
            ],
            "список-складов",
            ["склады", "список складов", "покажи склады"],
        ),
        (
            USERS,
            "GET /users",
            ["users", "list users", "all users"],
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
    ids=["reported", "camel", "cyrillic kebab", "rest paths", "chinese"],
)
def test_bc04_a_short_base_tool_among_its_sub_resources(check, tools, base, words):
    """Kind: siblings. The tool about the thing itself is not swamped by those about its parts."""
    check(tools, ("loaded", [base], base, f"`{base}`"))
    check(tools, ("within3", [base], *words), rankers=["hybrid"])  # for BM25 alone see the known limits


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
        (
            [t("дверь-гаража-открыть")]
            + [
                t(
                    f"датчик-история-{i}",
                    f"История датчика {i}: дверь, гараж, ворота, когда открыть и закрыть",
                )
                for i in range(80)
            ],
            ["открыть дверь гаража", "дверь гаража открыть", "ДверьГаражаОткрыть"],
        ),
        (
            REPORTS,
            ["cafetera apagar", "cafetera: apagar"],
        ),
    ],
    ids=["reported", "camel", "japanese", "cyrillic kebab", "spanish, 200"],
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
        (
            [
                t(
                    "заказ.создать",
                    "Создать заказ. Заказ потом можно отменить, оплатить, вернуть и снова отменить; создавайте "
                    "заказы, чтобы отменять, оплачивать и возвращать их.",
                ),
                t(
                    "заказ.оплатить",
                    "Оплатить заказ. " + "Укажите способ и подтвердите сумму в рублях. " * 10,
                ),
                t("заказ.отменить", "Отменить заказ."),
            ],
            [
                ("loaded", "заказ.отменить", "отменить заказ", "отмени мой заказ"),
                ("loaded", "заказ.оплатить", "оплатить заказ"),
                ("loaded", "заказ.создать", "создать заказ", "создать новый заказ"),
            ],
        ),
        (
            [
                t(
                    "album-new",
                    "Start an album. Albums may be shared, tagged, archived, shared again or printed; start albums to "
                    "share, tag, archive and print them.",
                ),
                t("album-print", "Print an album. " + "Choose the paper and wait for the courier. " * 14),
                *(
                    t(f"album-{verb}", f"{verb.capitalize()} an album.")
                    for verb in ("share", "tag", "archive")
                ),
                *(t(f"track-{i}", f"Part {i} of the studio, unlike an album") for i in range(40)),
            ],
            [
                ("loaded", "album-share", "share an album"),
                ("loaded", "album-archive", "archive the album"),
                ("loaded", "album-print", "print an album"),
                ("loaded", "album-new", "start a new album"),
            ],
        ),
    ],
    ids=["reported", "camel", "chinese", "cyrillic dotted", "kebab, 45"],
)
def test_bc10_x20_a_keyword_dense_description_is_no_magnet(check, tools, expectations):
    """Kind: siblings. A tool that mentions its neighbours' verbs does not attract their requests."""
    check(tools, *expectations)
