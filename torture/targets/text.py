"""Delimited text: plain or compressed, samples in rows or in columns, with any option."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path

from torture.target import Choices, Target
from torture.targets.tables import ingested

_ENDINGS = ("csv", "tsv", "txt", "csv.gz", "csv.zst")
_DELIMITERS = (None, ",", "\t", ";", "|", " ")
_OPTIONS = 4
"""Bytes of an input before the text itself."""


def _use(data: bytes, folder: Path) -> None:
    choices = Choices(data[:_OPTIONS])
    ending = choices.one_of(_ENDINGS)
    flags = choices.number(256)
    path = folder / f"t.{ending}"
    content = data[_OPTIONS:]
    path.write_bytes(gzip.compress(content, 1) if ending.endswith("gz") and flags & 64 else content)
    ingested(
        path,
        folder,
        header=(None, None, True, False)[flags & 3],
        transposed=bool(flags & 4),
        decimal="," if flags & 8 else ".",
        clean_names=bool(flags & 16),
        target=-1 if flags & 32 else None,
        many_categories="frequency" if flags & 128 else "error",
        delimiter=choices.one_of(_DELIMITERS),
        categorical=[0] if choices.number(2) else [],
    )


def _seeds() -> Mapping[str, bytes]:
    plain = b"a,b,c,y\n1,2.5,u,0\n3,-4e3,v,1\n,NA,u,0\n5,6,w,1\n"
    return {
        "plain": bytes([0, 0, 0, 0]) + plain,
        "target": bytes([0, 32, 0, 0]) + plain,
        "tabs": bytes([1, 0, 0, 0]) + plain.replace(b",", b"\t"),
        "quoted": bytes([0, 16, 0, 0]) + b'"a ""x""","b\nc",d\r\n"1",2,"u,v"\r\n3,4,"w"\r\n',
        "dates": bytes([0, 0, 0, 0]) + "d,ä,b\n2021-02-28,1,true\n2021-03-01T10:00:00Z,2,false\n,3,\n".encode(),
        "transposed": bytes([0, 4, 0, 0]) + b"id,s1,s2,s3\ng1,1,2,3\ng2,u,v,u\n",
        "decimal": bytes([0, 8, 3, 0]) + b"a;b\n1,5;2\n3,25;4\n",
        "spaces": bytes([2, 2, 5, 0]) + b"a b c\n1 2 3\n4 5 6\n",
        "gzip": bytes([3, 64, 0, 0]) + plain,
        "headless": bytes([0, 3, 0, 1]) + b"1,2\n3,4\n5,6\n",
        "long": bytes([0, 128, 0, 0]) + b"a,b\n" + b"".join(b"%d.%d,w%d\n" % (i, i * i, i) for i in range(300)),
        "mark": bytes([0, 0, 0, 0]) + b"\xef\xbb\xbf\n\na,b\n1e400,-inf\n" + b"9" * 400 + b",0x1p3\n",
    }


TARGETS = {"text": Target("text", "delimited text (.csv, .tsv, .txt, .gz, .zst)", _use, _seeds)}
