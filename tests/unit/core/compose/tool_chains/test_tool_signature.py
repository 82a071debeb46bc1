"""Tools fit together by the names of their inputs and outputs."""

from pulsus.core.compose.tool_chains.tool_signature import (
    CLEAR,
    EQUAL,
    SignatureTable,
    ToolSignature,
)


def table(*rows):
    return SignatureTable(
        ToolSignature(name, name, "", tuple(inputs.split()), tuple(outputs.split()))
        for name, inputs, outputs in rows
    )


def link(found, consumer, producer):
    return found.link(found.place[consumer], found.place[producer])


def test_spelling_of_a_name_does_not_hide_a_link():
    found = table(("Shop_Details", "productId", "text"), ("Shop_Search", "query", "product_id"))
    assert link(found, "Shop_Details", "Shop_Search").strength == EQUAL
    assert link(found, "Shop_Details", "Shop_Search").by_key


def test_the_id_of_a_tool_named_after_the_thing_feeds_its_input():
    found = table(("Music_Albums", "artistId", "albums"), ("Music_Artist_By_Name", "name", "id"))
    assert link(found, "Music_Albums", "Music_Artist_By_Name").strength == CLEAR
    assert found.producers(found.place["Music_Albums"]) == (found.place["Music_Artist_By_Name"],)


def test_a_value_that_a_tool_only_repeats_is_not_offered():
    found = table(("Hotels_Book", "city", "price"), ("Hotels_Search", "city", "city"))
    assert link(found, "Hotels_Book", "Hotels_Search").strength == 0


def test_the_tool_that_acts_comes_after_the_tool_that_finds():
    found = table(
        ("Music.LookupSong", "genre", "song_name year"),
        ("Music.PlaySong", "song_name", "genre"),
    )
    assert link(found, "Music.PlaySong", "Music.LookupSong").strength == EQUAL
    assert link(found, "Music.LookupSong", "Music.PlaySong").strength == 0


def test_one_value_with_two_roles_is_counted_twice():
    found = table(
        ("Sky_Flights", "originSkyId destinationSkyId", "price"), ("Sky_Airport", "query", "skyId")
    )
    places = found.place["Sky_Flights"], found.place["Sky_Airport"]
    assert found.count_roles(*places) == 2
    assert found.link(*places).firm


def test_tools_of_one_verb_are_no_family():
    found = table(("get_news", "topic", "headlines"), ("get_joke", "", "joke"))
    assert not link(found, "get_news", "get_joke").family
