"""Markdown vaults: notes, links, front matter, names."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import doxa
from doxa.io import import_file

SAMPLE = Path(__file__).parent.parent / "data" / "vault"


def linked(mem: doxa.Memory, source: str) -> set[tuple[str, bool]]:
    return {
        (row["target"], row["broken"])
        for row in mem.to_arrow("links").to_pylist()
        if row["source"] == source
    }


def test_a_note_is_a_proposition_with_its_first_paragraph_as_summary(mem: doxa.Memory) -> None:
    report = import_file(mem, SAMPLE)
    assert report.format == "markdown"
    assert report.propositions == 7
    note = mem.get("note/卡片/永久笔记")
    assert note.title == "永久笔记"
    assert note.summary == "永久笔记是常青的笔记，可参考 首页。\n第二行仍是同一段。"
    assert note.body.startswith("## 细节\n\n`[[不是链接]]`")
    assert note.source == "卡片/永久笔记.md"


def test_front_matter_gives_title_time_and_properties(mem: doxa.Memory) -> None:
    import_file(mem, SAMPLE)
    note = mem.get("note/卡片/index")
    assert note.title == "索引"
    assert note.recorded_at.isoformat() == "2024-03-01T00:00:00+00:00"
    assert note.summary == "这里收集常青笔记和闪念笔记。"
    assert "aliases:\n- 首页\n- Home" in note.body
    assert "created" not in note.body


def test_links_resolve_by_path_name_title_and_alias(mem: doxa.Memory) -> None:
    import_file(mem, SAMPLE)
    assert linked(mem, "note/卡片/index") == {
        ("note/Projects/茶馆", False),  # a path, in the front matter
        ("note/茶馆", False),  # of two notes of this name the one nearer the root
        ("note/卡片/永久笔记", False),
        ("note/卡片/闪念笔记", False),
        ("note/不存在的笔记", True),
    }
    assert linked(mem, "note/卡片/永久笔记") == {("note/卡片/index", False)}  # an alias
    assert linked(mem, "note/茶馆") == {
        ("note/卡片/index", False),  # a Markdown link, percent-encoded
        ("note/卡片/永久笔记", False),  # an embed of a part
    }


def test_two_notes_of_one_name_stay_two_and_the_nearest_is_linked(mem: doxa.Memory) -> None:
    report = import_file(mem, SAMPLE)
    assert {"note/茶馆", "note/Projects/茶馆"} <= {p.id for p in mem.propositions()}
    assert linked(mem, "note/Projects/茶馆") == {("note/茶馆", False)}
    assert "link" in str(report.notes[-1])
    assert "nearest" in str(report.notes[-1])


def test_a_link_to_a_missing_note_is_kept_broken_and_mends_when_the_note_comes(
    mem: doxa.Memory, tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "a.md").write_text("Points to [[b]].", encoding="utf-8")
    report = import_file(mem, vault)
    assert (report.links, report.broken_links) == (1, 1)
    assert linked(mem, "note/a") == {("note/b", True)}
    (vault / "b.md").write_text("Is here now.", encoding="utf-8")
    again = import_file(mem, vault)
    assert (again.propositions, again.refused) == (1, ())
    assert linked(mem, "note/a") == {("note/b", False)}


def test_what_is_no_text_or_no_yaml_is_said_and_hidden_folders_are_left_alone(
    mem: doxa.Memory,
) -> None:
    report = import_file(mem, SAMPLE)
    assert [str(problem) for problem in report.refused] == [
        "Projects/latin.md: not UTF-8 (byte 3): skipped"
    ]
    notes = [str(note) for note in report.notes]
    assert notes[0].startswith("卡片/闪念笔记.md, line 1: the front matter is not valid YAML")
    assert (
        "broken: [1, 2"
        in mem.get("note/卡片/闪念笔记").summary + mem.get("note/卡片/闪念笔记").body
    )
    assert not any("hidden" in p.id for p in mem.propositions())


def test_a_second_import_adds_nothing(mem: doxa.Memory) -> None:
    import_file(mem, SAMPLE)
    before = [mem.to_arrow(name) for name in ("propositions", "links", "entities")]
    report = import_file(mem, SAMPLE)
    assert report.added == report.duplicates == report.broken_links == 0
    assert [mem.to_arrow(name) for name in ("propositions", "links", "entities")] == before


def test_a_changed_note_is_refused_or_rewritten_if_asked(mem: doxa.Memory, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    shutil.copytree(SAMPLE, vault)
    import_file(mem, vault)
    note = vault / "茶馆.md"
    note.write_text("The tea house has moved to the river.", encoding="utf-8")
    report = import_file(mem, vault)
    assert str(report.refused[-1]) == (
        "茶馆.md, line 1: 'note/茶馆' is there with another summary; "
        "what is there was kept: skipped"
    )
    assert import_file(mem, vault, update=True).rewritten == 1
    changed = mem.get("note/茶馆")
    assert (changed.summary, changed.rev) == ("The tea house has moved to the river.", 2)


def test_notes_appended_since_are_no_difference(mem: doxa.Memory) -> None:
    import_file(mem, SAMPLE)
    mem.append("note/茶馆", "visited in May")
    assert import_file(mem, SAMPLE).already_there == 7


def test_aliases_in_yaml_that_would_expand_to_gigabytes_are_not_read(
    mem: doxa.Memory, tmp_path: Path
) -> None:
    bomb = "a: &a [x, x, x]\nb: &b [*a, *a, *a]\nc: [*b, *b, *b]"
    (tmp_path / "n.md").write_text(f"---\n{bomb}\n---\ntext", encoding="utf-8")
    report = import_file(mem, tmp_path / "n.md")
    assert report.propositions == 1
    assert "not valid YAML" in str(report.notes[0])


def test_names_too_long_for_an_id_are_cut_and_stay_apart(mem: doxa.Memory, tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    for part in ("甲" * 60, "乙" * 60):
        (folder / part).mkdir(parents=True)
        (folder / part / f"{'长' * 40}.md").write_text(f"In {part}.", encoding="utf-8")
    report = import_file(mem, folder)
    assert report.propositions == 2
    assert all(len(p.id.encode()) <= 256 for p in mem.propositions())


def test_a_folder_without_notes_is_refused(mem: doxa.Memory, tmp_path: Path) -> None:
    with pytest.raises(doxa.InvalidValue, match="a folder with Markdown notes"):
        import_file(mem, tmp_path)


def test_linked_folders_are_not_entered(mem: doxa.Memory, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "a.md").write_text("A note.", encoding="utf-8")
    (vault / "loop").symlink_to(vault, target_is_directory=True)
    assert import_file(mem, vault).propositions == 1
