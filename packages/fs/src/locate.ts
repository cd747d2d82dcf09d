/** From a seq to the byte where its line starts. */
import type { Seq } from "@sessions/core/storage"
import { countLines, findBack } from "./count.ts"
import type { Files } from "./files.ts"
import { markBefore } from "./marks.ts"
import type { Part } from "./view.ts"

export interface ByteRange {
  readonly start: number
  readonly end: number
}

/**
 * The bytes of the lines from `from` to `to` (exclusive) of one part. Reads at most the 256 KB between two marks for either end; the
 * part's own ends are known, and what lies shortly before the end is found from there.
 */
export function locate(files: Files, fd: number, part: Part, from: Seq, to: Seq): ByteRange {
  const end = to >= part.end.seq ? part.end.offset : toOffset(files, fd, part, to)
  const mark = markBefore(part.marks, from)
  if (mark.seq === from) return { start: mark.offset, end }
  const near = markBefore(part.marks, to - 1) === mark
  const back = near ? findBack(files, fd, mark.offset, end, to - from) : undefined
  return { start: back ?? toOffset(files, fd, part, from), end }
}

function toOffset(files: Files, fd: number, part: Part, seq: Seq): number {
  return countLines(files, fd, { start: markBefore(part.marks, seq), end: part.end.offset, until: seq }).offset
}
