/** Faults that the fuzzer must find: a guard or a check is removed from a source file while it is loaded. No file is changed. */

export interface Fault {
  readonly name: string
  /** The only store that can find it; missing if those without a server can. */
  readonly store?: string
  /** From the root of the repository. */
  readonly file: string
  /** Each text is in the file once. */
  readonly edits: readonly (readonly [text: string, replacement: string])[]
}

export const FAULTS: readonly Fault[] = [
  {
    name: "content blocks are not checked",
    file: "packages/core/src/context/content.ts",
    edits: [["return valid ? content : undefined", "return content"]],
  },
  {
    name: "values of stored records are taken for texts",
    file: "packages/core/src/format/stored-text.ts",
    edits: [['value === null ? "" : toJson(value)', 'value === null ? "" : String(value)']],
  },
  {
    name: "files: the offsets in the index of a part are not checked",
    file: "packages/fs/src/log/sparse-index.ts",
    edits: [
      ["if (check !== undefined && check !== checkRows(marks)) return []", ""],
      ["if (checkBefore(files, fd, last.offset) !== last.check) return [first]", ""],
      ["stored.filter((line) => line.offset <= size)", "stored"],
    ],
  },
  {
    name: "files: the numbers in metadata.json are not checked",
    file: "packages/fs/src/log/metadata.ts",
    edits: [["(value.sum === undefined || value.sum === sumOf(value)) &&", ""]],
  },
  {
    name: "files: the lines of a part are not counted",
    file: "packages/fs/src/read/part.ts",
    edits: [
      ["if (seq > to) break", ""],
      ["deps.damaged.add(path, fd)", "return"],
    ],
  },
  {
    name: "s3: the lines of a segment are not counted",
    file: "packages/s3/src/read/segment-lines.ts",
    edits: [["if (seq !== range.seq + range.lines) throw", "if (false) throw"]],
  },
  {
    name: "idb: the first seq of a row is not compared",
    file: "packages/idb/src/log/rows.ts",
    edits: [["if (found !== from)", "if (found === undefined)"]],
  },
  {
    name: "sqlite: the lines of a row are not counted",
    file: "packages/sqlite/src/lines.ts",
    edits: [
      ["if (lines.length === count && body.at(-1) === LF) return lines", "if (count !== undefined) return lines"],
    ],
  },
  {
    name: "postgres: the lines of a row are not counted",
    store: "postgres",
    file: "packages/postgres/src/rows.ts",
    edits: [
      ["if (lines?.length !== row.lines) throw", "if (lines === undefined) throw"],
      ["if (expected !== undefined && seq !== expected) throw", "if (false) throw"],
    ],
  },
  {
    name: "postgres: the first seq of a row is not compared",
    store: "postgres",
    file: "packages/postgres/src/rows.ts",
    edits: [
      ["if (expected !== undefined && seq !== expected) throw", "if (false) throw"],
      ["row.seq !== next ||", ""],
    ],
  },
]
