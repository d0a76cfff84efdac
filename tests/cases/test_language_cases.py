"""Failures of other tool searches, from public reports: languages and scripts (BC-08)."""

from __future__ import annotations

import pytest
from case_tools import t


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
        (
            [
                t("Clinic.Appointment", "קביעת תור לרופא"),
                t("Clinic.Recipe", "חידוש מרשם לתרופה"),
                t("Clinic.Result", "הצגת תוצאות של בדיקת דם"),
            ],
            [("loaded", "Clinic.Recipe", "מרשם", "חידוש מרשם"), ("loaded", "Clinic.Result", "בדיקת דם")],
        ),
        (
            [
                t("வங்கி_இருப்பு", "கணக்கில் உள்ள பணம்"),
                t("வங்கி_அனுப்பு", "நண்பருக்கு தொகை அனுப்பு"),
                t("வங்கி_கடன்", "கடன் விண்ணப்பம்"),
            ],
            [("loaded", "வங்கி_கடன்", "கடன்"), ("loaded", "வங்கி_இருப்பு", "இருப்பு", "பணம்")],
        ),
        (
            [t(f"倉庫{i}", f"倉庫{i}の在庫を数えます") for i in range(60)]
            + [t("冷蔵庫", "冷蔵庫の温度を記録します"), t("配送車", "配送車の現在地を地図に示します")],
            [
                ("loaded", "冷蔵庫", "温度", "冷蔵庫の温度はいま何度か記録して"),
                ("loaded", "配送車", "現在地"),
                ("first", "配送車", "車はどこか地図で見せて"),
            ],
        ),
        (
            [t("ដំណាំ", "មើលតម្លៃស្រូវ"), t("អាកាស", "ព្យាករណ៍អាកាសធាតុ"), t("ដី", "វាស់ដីស្រែ")],
            [("loaded", "អាកាស", "អាកាសធាតុ"), ("loaded", "ដី", "វាស់ដី")],
        ),
    ],
    ids=[
        *("reported", "chinese", "one ideograph", "thai", "korean", "arabic"),
        *("hindi", "hebrew", "tamil snake", "japanese, 62", "khmer"),
    ],
)
def test_bc08_x18_texts_without_spaces_and_other_scripts(check, tools, expectations):
    """Kind: languages. A word of the description is found in any script, with or without spaces."""
    check(tools, *expectations)
