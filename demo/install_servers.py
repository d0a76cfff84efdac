"""Install the demo's MCP servers: servers.toml in, one virtual environment for each SDK version out.

Needs Python 3.11 and pip, nothing else. Runs again in no time: an environment that was made from the same
requirements by the same Python is left as it is. Should an environment not install as a whole, its servers
are installed one by one, so that a package that cannot be had costs its own server only.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
import tomllib
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
STAMP = "installed-from"


def main() -> int:
    """Make all environments side by side; 1 when not one server could be installed, else 0."""
    config = tomllib.loads((HERE / "servers.toml").read_text(encoding="utf-8"))
    started = time.perf_counter()
    with ThreadPoolExecutor() as pool:
        installed = sum(pool.map(lambda name: install(name, config), config["environments"]))
    wanted = len(config["servers"])
    print(f"{installed} of {wanted} MCP servers are installed ({time.perf_counter() - started:.0f} s).")
    return 0 if installed else 1


def install(name: str, config: dict) -> int:
    """Make one environment; returns how many of its servers are installed."""
    environment = config["environments"][name]
    packages = [server["package"] for server in config["servers"] if server["environment"] == name]
    folder = ROOT / environment["folder"]
    requirements = HERE / environment["requirements"]
    fingerprint = hashlib.sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()
    stamp = folder / STAMP
    if stamp.exists() and stamp.read_text(encoding="utf-8") == fingerprint:
        say(name, f"{len(packages)} servers already installed in {environment['folder']}")
        return len(packages)

    say(name, f"installing {', '.join(packages)} ...")
    started = time.perf_counter()
    venv.create(folder, clear=True, with_pip=True)
    if not (problem := pip(folder, "--requirement", str(requirements))):
        stamp.write_text(fingerprint, encoding="utf-8")
        say(name, f"{len(packages)} servers installed after {time.perf_counter() - started:.0f} s")
        return len(packages)

    say(name, f"not as a whole ({problem}); one by one ...")
    installed = 0
    for package in packages:
        problem = pip(folder, package, "--constraint", str(requirements))
        installed += not problem
        say(name, f"{package}: {'FAILED, ' + problem if problem else 'installed'}")
    return installed


def pip(folder: Path, *what: str) -> str:
    """Run pip in one environment; returns its first error, empty when all went well."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    command = [str(python), "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check"]
    done = subprocess.run([*command, *what], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    errors = [line.removeprefix("ERROR: ") for line in done.stderr.splitlines() if line.startswith("ERROR: ")]
    return errors[0] if errors else f"pip ended with {done.returncode}"


def say(environment: str, text: str) -> None:
    """Print one line in one write, for two environments take turns."""
    print(f"  {environment}: {text}\n", end="", flush=True)


if __name__ == "__main__":
    sys.exit(main())
