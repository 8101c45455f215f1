"""State that is copied into a folder to be read there."""

from __future__ import annotations

from sharc_crawler.state.rows import Batch
from sharc_crawler.storage.beside import begin_copy, load_state, move_copy
from sharc_crawler.storage.opening import begin_state
from sharc_crawler.testing.stores import page_row


def test_a_copy_takes_the_place_of_what_a_folder_had(tmp_path):
    draft, folder = tmp_path / "draft", tmp_path / "folder"
    for place, pages in ((draft, 2), (folder, 1)):
        place.mkdir()
        store = begin_copy(place) if place is draft else begin_state(place, "sqlite")
        store.commit(Batch([page_row(number) for number in range(pages)]))
        store.close()
    move_copy(draft, folder)
    assert len(load_state(folder).pages) == 2
