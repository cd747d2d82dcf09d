/** The sessions of Claude Code: JSON lines in `projects/<folder>/<id>.jsonl` of its configuration folder. */
import { defineFormat, type Format, type WriteSession } from "../base/format.ts"
import { wellFormedWriter } from "../base/well-formed.ts"
import { FORMAT_NAME } from "./lines.ts"
import { read } from "./read.ts"
import { rejects } from "./rejects.ts"
import { write } from "./write.ts"

export const claudeCode: Format & { readonly write: WriteSession } = {
  ...defineFormat({ format: FORMAT_NAME, title: "Claude Code", versions: "2.0 to 2.1", rejects, read }),
  write: wellFormedWriter(FORMAT_NAME, write),
}
