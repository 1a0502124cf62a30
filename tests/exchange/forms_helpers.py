"""What several tests take from `test_forms`: EXAMPLES."""

from pathlib import Path

EXAMPLES = {
    file.stem: (file.suffix.removeprefix("."), file.read_text(encoding="utf-8"))
    for file in sorted((Path(__file__).parent / "forms").iterdir())
}
