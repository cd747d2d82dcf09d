/** The chats of Gemini CLI: `tmp/<project>/chats/session-<time>-<id>.jsonl` in `~/.gemini`, in older versions one JSON document. */
import { defineFormat, type Format, type Writer } from "../base/format.ts"
import { wellFormedWriter } from "../base/well-formed.ts"
import { FORMAT } from "./codec.ts"
import { read } from "./read.ts"
import { write } from "./write.ts"

export { geminiPathOf, PROJECT_ROOT } from "./place.ts"

export const gemini: Format & Writer = {
  ...defineFormat({
    format: FORMAT,
    title: "Gemini CLI",
    versions: "0.1 to 0.61",
    rejects: ({ records, document }) => {
      const isHeader = records.some(
        ({ sessionId, projectHash }) => typeof sessionId === "string" && typeof projectHash === "string",
      )
      const isOlder =
        document?.kind === "object" && document.names.has("sessionId") && document.names.has("projectHash")
      return isHeader || isOlder ? undefined : "has no `sessionId` beside a `projectHash`"
    },
    read,
  }),
  write: wellFormedWriter(FORMAT, write),
}
