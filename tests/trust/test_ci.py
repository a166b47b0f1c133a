"""`.ci/run` where something is missing: it says what to install, and installs nothing itself."""

import shutil
import subprocess

from tests.support.command import ROOT


def test_an_ordinary_user_is_told_what_to_install(tmp_path):
    for name in ("bash", "dirname"):
        (tmp_path / name).symlink_to(shutil.which(name))
    (tmp_path / "id").write_text(f"#!{shutil.which('bash')}\necho 1000\n")
    (tmp_path / "id").chmod(0o755)
    done = subprocess.run(
        [tmp_path / "bash", ROOT / ".ci" / "run"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
    assert "as root: apt-get install -y --no-install-recommends chromium nodejs" in done.stderr
    assert "texlive-latex-base" in done.stderr and "texlive-latex-recommended" in done.stderr
