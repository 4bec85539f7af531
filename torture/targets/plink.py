"""PLINK's binary genotypes: headers, variants and people, with a file of phenotypes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import fernwood
from torture.target import PART, Target, parted
from torture.targets.tables import MEMORY, ingested, looked_at


def _use(data: bytes, folder: Path) -> None:
    for ending, content in zip(("bed", "bim", "fam", "pheno"), parted(data, 4), strict=True):
        (folder / f"t.{ending}").write_bytes(content)
    if (folder / "t.pheno").stat().st_size:
        path, given = folder / "t.bed", f"{folder / 't.pheno'}:trait"
        looked_at(fernwood.ingest(path, folder / "out.fern", memory=MEMORY, target=given, given=["sex"]))
    else:
        ingested(folder / "t.bed", folder, target="phenotype")


def _seeds() -> Mapping[str, bytes]:
    bim = "".join(f"{i}\trs{i}\t0\t{i * 100}\tA\tG\n" for i in range(1, 4))
    fam = "".join(f"f{i} s{i} 0 0 {1 + i % 2} {1 + i % 2}\n" for i in range(5))
    pheno = "FID IID trait\n" + "".join(f"f{i} s{i} {i / 2}\n" for i in (3, 1, 0, 2, 4))
    bed = b"\x6c\x1b\x01" + bytes([0b11100100, 0b01, 0b00011011, 0b10, 0b11111111, 0b11])
    files = {
        "plain": (bed, bim, fam),
        "phenotypes": (bed, bim, fam, pheno),
        "spaced": (bed, bim.replace("\t", " "), fam.replace(" ", "\t")),
        "no-people": (bed[:3], bim, ""),
        "individual-major": (b"\x6c\x1b\x00" + bed[3:], bim, fam),
        "words": (bed, bim, fam.replace(" 1\n", " case\n").replace(" 2\n", " control\n")),
    }
    return {name: PART.join(x.encode() if isinstance(x, str) else x for x in some) for name, some in files.items()}


TARGETS = {"plink": Target("plink", "PLINK (.bed, .bim, .fam)", _use, _seeds)}
