"""Names that C++ files keep to themselves: what their anonymous namespaces define.

Files of one folder are compiled together, as one file. The compiler reports a type or a function that two of
them define, but an overload, or a name that hides another, may change silently what a call means.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

_SKIPPED = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*",
    re.DOTALL | re.MULTILINE,
)
_TYPE = re.compile(r"(?:struct|class|union|concept|enum(?:\s+class)?)\s+(\w+)|using\s+(\w+)\s*=")
_NO_NAME = re.compile(r"using\b|static_assert\b|friend\b|extern\b")
_FUNCTION = re.compile(r"[^=(]*?\b([A-Za-z_]\w*)\s*\(")
_VALUE = re.compile(r"[^=]*?\b(\w+)\s*(?:\[[^\]]*\])*\s*(?:=|$)")
_TEMPLATE = re.compile(r"template\s*<[^;{}]*?>\s*(?=[\w\[])")


def find_hidden_names(text: str) -> set[str]:
    """Return the names that the anonymous namespaces of a file define."""
    text = _SKIPPED.sub(" ", text)
    found: set[str] = set()
    open_braces: list[bool | None] = []  # True: an anonymous namespace, False: another, None: anything else
    begin = parentheses = 0
    for mark in re.finditer(r"[{};()]", text):
        if mark.group() in "()":
            parentheses += 1 if mark.group() == "(" else -1
            continue
        if parentheses:
            continue
        head = text[begin : mark.start()].strip()
        begin = mark.end()
        hidden = bool(open_braces) and open_braces[-1] is True
        if mark.group() == "{":
            namespace = re.search(r"\bnamespace(\s+[\w:]+)?\s*$", head)
            open_braces.append(None if namespace is None else namespace.group(1) is None)
            if hidden and namespace is None:
                found |= _name_declaration(head)
        elif mark.group() == "}":
            if open_braces:
                open_braces.pop()
        elif hidden:
            found |= _name_declaration(head)
    return found


def _name_declaration(head: str) -> set[str]:
    head = _TEMPLATE.sub("", re.sub(r"\[\[.*?\]\]", "", head)).strip()
    if declared := _TYPE.match(head):
        return {declared.group(1) or declared.group(2)}
    if _NO_NAME.match(head) or "operator" in head.split("(")[0]:
        return set()
    if called := _FUNCTION.match(head):
        return set() if called.group(1).isupper() else {called.group(1)}  # a macro
    value = _VALUE.match(head)
    return {value.group(1)} if value else set()


def find_repeated_names(root: Path) -> list[str]:
    """Return, one a line, the hidden names that two files of a folder define."""
    files: defaultdict[tuple[Path, str], list[str]] = defaultdict(list)
    for path in sorted(root.rglob("*.cpp")):
        for name in find_hidden_names(path.read_text(encoding="utf-8")):
            files[path.parent, name].append(path.name)
    return sorted(
        f"{folder.relative_to(root.parent).as_posix()}: {name} is defined by {', '.join(paths)}"
        for (folder, name), paths in files.items()
        if len(paths) > 1
    )
