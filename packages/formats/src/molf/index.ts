/** The sessions of molf: one JSON document with `sessionId` and `messages`. Only read. */
import { defineFormat, type Format } from "../base/format.ts"
import { FORMAT, read } from "./read.ts"

export const molf: Format = defineFormat({
  format: FORMAT,
  title: "molf",
  rejects: ({ document }) => {
    const names = document?.kind === "object" ? document.names : undefined
    const isSession = names?.has("sessionId") === true && names.has("messages") && !names.has("projectHash")
    return isSession ? undefined : "is no document with `sessionId` and `messages`"
  },
  read,
})
