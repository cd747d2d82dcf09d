/** The sessions that `opencode export <id>` writes: one document `{info, messages: [{info, parts}]}`. */
import { defineFormat, type Format, type Writer } from "../base/format.ts"
import { wellFormedWriter } from "../base/well-formed.ts"
import { startOf } from "../base/start.ts"
import { beginOf, FORMAT, read } from "./read.ts"
import { write } from "./write.ts"

export { type OpencodeDatabase, opencodeDocument, type OpencodeSession, opencodeSessions } from "./database.ts"
export { opencodeIdOf } from "./ids.ts"

export const opencode: Format & Writer = {
  ...defineFormat({
    format: FORMAT,
    title: "opencode",
    versions: "1.18",
    rejects: (start) => {
      const begin = beginOf(start.text)
      const { document } = begin === 0 ? start : startOf(start.text.slice(begin))
      const has = (name: string): boolean => document?.kind === "object" && document.names.has(name)
      // A session without messages has no parts.
      const isExport = has("info") && has("messages") && (has("parts") || has("projectID"))
      return isExport ? undefined : "is no document with `info`, `messages` and `parts`"
    },
    read,
  }),
  write: wellFormedWriter(FORMAT, write),
}
