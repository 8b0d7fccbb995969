from __future__ import annotations

import pytest

from glassformer.data.grammar import korean
from glassformer.data.grammar.korean import Stem

# dictionary form, irregularity: plain present, past, polite, formal, -(으)ㄴ, -(으)ㄹ, -(으)면, -는, -고, with -시-
VERBS = """
가다     | 간다     갔다     가요     갑니다     간     갈     가면     가는     가고     가시다
오다     | 온다     왔다     와요     옵니다     온     올     오면     오는     오고     오시다
보다     | 본다     봤다     봐요     봅니다     본     볼     보면     보는     보고     보시다
주다     | 준다     줬다     줘요     줍니다     준     줄     주면     주는     주고     주시다
마시다   | 마신다   마셨다   마셔요   마십니다   마신   마실   마시면   마시는   마시고   마시시다
보내다   | 보낸다   보냈다   보내요   보냅니다   보낸   보낼   보내면   보내는   보내고   보내시다
되다     | 된다     됐다     돼요     됩니다     된     될     되면     되는     되고     되시다
쉬다     | 쉰다     쉬었다   쉬어요   쉽니다     쉰     쉴     쉬면     쉬는     쉬고     쉬시다
쓰다     | 쓴다     썼다     써요     씁니다     쓴     쓸     쓰면     쓰는     쓰고     쓰시다
먹다     | 먹는다   먹었다   먹어요   먹습니다   먹은   먹을   먹으면   먹는     먹고     먹으시다
읽다     | 읽는다   읽었다   읽어요   읽습니다   읽은   읽을   읽으면   읽는     읽고     읽으시다
앉다     | 앉는다   앉았다   앉아요   앉습니다   앉은   앉을   앉으면   앉는     앉고     앉으시다
닫다     | 닫는다   닫았다   닫아요   닫습니다   닫은   닫을   닫으면   닫는     닫고     닫으시다
입다     | 입는다   입었다   입어요   입습니다   입은   입을   입으면   입는     입고     입으시다
웃다     | 웃는다   웃었다   웃어요   웃습니다   웃은   웃을   웃으면   웃는     웃고     웃으시다
살다     | 산다     살았다   살아요   삽니다     산     살     살면     사는     살고     사시다
만들다   | 만든다   만들었다 만들어요 만듭니다   만든   만들   만들면   만드는   만들고   만드시다
열다     | 연다     열었다   열어요   엽니다     연     열     열면     여는     열고     여시다
듣다 ㄷ  | 듣는다   들었다   들어요   듣습니다   들은   들을   들으면   듣는     듣고     들으시다
걷다 ㄷ  | 걷는다   걸었다   걸어요   걷습니다   걸은   걸을   걸으면   걷는     걷고     걸으시다
돕다 ㅂ  | 돕는다   도왔다   도와요   돕습니다   도운   도울   도우면   돕는     돕고     도우시다
굽다 ㅂ  | 굽는다   구웠다   구워요   굽습니다   구운   구울   구우면   굽는     굽고     구우시다
짓다 ㅅ  | 짓는다   지었다   지어요   짓습니다   지은   지을   지으면   짓는     짓고     지으시다
부르다 르| 부른다   불렀다   불러요   부릅니다   부른   부를   부르면   부르는   부르고   부르시다
오르다 르| 오른다   올랐다   올라요   오릅니다   오른   오를   오르면   오르는   오르고   오르시다
공부하다 | 공부한다 공부했다 공부해요 공부합니다 공부한 공부할 공부하면 공부하는 공부하고 공부하시다
"""
# plain present, past, polite, formal, before a noun, -(으)면, -지만, with -시-
ADJECTIVES = """
크다       | 크다       컸다         커요         큽니다         큰         크면         크지만       크시다
예쁘다     | 예쁘다     예뻤다       예뻐요       예쁩니다       예쁜       예쁘면       예쁘지만     예쁘시다
바쁘다     | 바쁘다     바빴다       바빠요       바쁩니다       바쁜       바쁘면       바쁘지만     바쁘시다
작다       | 작다       작았다       작아요       작습니다       작은       작으면       작지만       작으시다
좋다       | 좋다       좋았다       좋아요       좋습니다       좋은       좋으면       좋지만       좋으시다
길다       | 길다       길었다       길어요       깁니다         긴         길면         길지만       기시다
춥다 ㅂ    | 춥다       추웠다       추워요       춥습니다       추운       추우면       춥지만       추우시다
아름답다 ㅂ| 아름답다   아름다웠다   아름다워요   아름답습니다   아름다운   아름다우면   아름답지만   아름다우시다
빨갛다 ㅎ  | 빨갛다     빨갰다       빨개요       빨갛습니다     빨간       빨가면       빨갛지만     빨가시다
하얗다 ㅎ  | 하얗다     하얬다       하얘요       하얗습니다     하얀       하야면       하얗지만     하야시다
빠르다 르  | 빠르다     빨랐다       빨라요       빠릅니다       빠른       빠르면       빠르지만     빠르시다
게으르다 르| 게으르다   게을렀다     게을러요     게으릅니다     게으른     게으르면     게으르지만   게으르시다
친절하다   | 친절하다   친절했다     친절해요     친절합니다     친절한     친절하면     친절하지만   친절하시다
"""


def rows(table: str) -> list[tuple[str, Stem, list[str]]]:
    found = []
    for line in table.strip().splitlines():
        head, forms = line.split("|")
        lemma, *irregular = head.replace("르|", "르 |").split()
        found.append((lemma, Stem(lemma.removesuffix("다"), irregular[0] if irregular else ""), forms.split()))
    return found


@pytest.mark.parametrize(
    ("lemma", "stem", "forms"), rows(VERBS), ids=lambda value: str(value) if isinstance(value, str) else ""
)
def test_verbs(lemma: str, stem: Stem, forms: list[str]) -> None:
    assert forms == [
        korean.narrated(stem),
        korean.past(stem).text + "다",
        korean.polite(stem),
        korean.formal(stem, question=False),
        korean.before_eu(stem, "ㄴ"),
        korean.before_eu(stem, "ㄹ"),
        korean.before_eu(stem, "면"),
        korean.before_consonant(stem, "는"),
        korean.before_consonant(stem, "고"),
        korean.honoured(stem).text + "다",
    ]


@pytest.mark.parametrize(
    ("lemma", "stem", "forms"), rows(ADJECTIVES), ids=lambda value: str(value) if isinstance(value, str) else ""
)
def test_adjectives(lemma: str, stem: Stem, forms: list[str]) -> None:
    assert forms == [
        stem.text + "다",
        korean.past(stem).text + "다",
        korean.polite(stem),
        korean.formal(stem, question=False),
        korean.before_eu(stem, "ㄴ"),
        korean.before_eu(stem, "면"),
        korean.before_consonant(stem, "지만"),
        korean.honoured(stem).text + "다",
    ]


def test_the_tables_hold_enough_forms() -> None:
    assert sum(len(forms) for _, _, forms in rows(VERBS) + rows(ADJECTIVES)) >= 300


@pytest.mark.parametrize(
    ("stem", "statement", "question", "polite"),
    [
        (korean.honoured(Stem("가")), "가십니다", "가십니까", "가세요"),
        (korean.honoured(Stem("읽")), "읽으십니다", "읽으십니까", "읽으세요"),
        (korean.past(korean.honoured(Stem("가"))), "가셨습니다", "가셨습니까", "가셨어요"),
        (korean.past(Stem("가")), "갔습니다", "갔습니까", "갔어요"),
        (Stem("시"), "십니다", "십니까", "셔요"),  # 시다, sour: no honour in it
    ],
)
def test_honour_and_past_end_as_they_should(stem: Stem, statement: str, question: str, polite: str) -> None:
    assert korean.formal(stem, question=False) == statement
    assert korean.formal(stem, question=True) == question
    assert korean.polite(stem) == polite


def test_purpose_and_intention_keep_the_last_rieul() -> None:
    assert korean.before_eu(Stem("만들"), "러") == "만들러"
    assert korean.before_eu(Stem("만들"), "려고") == "만들려고"
    assert korean.before_eu(Stem("만들"), "ㅂ시다") == "만듭시다"
    assert korean.before_eu(Stem("먹"), "러") == "먹으러"
    assert korean.before_consonant(Stem("살"), "니") == "사니"
