/** The sessions that `opencode export <id>` writes: one document `{info, messages: [{info, parts}]}`. Only read. */
import { defineFormat, type Format } from "../base/format.ts"
import { FORMAT, read } from "./read.ts"

export const opencode: Format = defineFormat({
  format: FORMAT,
  title: "opencode",
  rejects: ({ document }) => {
    const isExport =
      document?.kind === "object" && ["info", "messages", "parts"].every((name) => document.names.has(name))
    return isExport ? undefined : "is no document with `info`, `messages` and `parts`"
  },
  read,
})
