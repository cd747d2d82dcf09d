/** The sessions of GitHub Copilot CLI: `session-state/<id>/events.jsonl` in `~/.copilot`, one event a line. Only read. */
import { defineFormat, type Format } from "../base/format.ts"
import { isObject } from "../base/values.ts"
import { FORMAT } from "./codec.ts"
import { read } from "./read.ts"

export const copilot: Format = defineFormat({
  format: FORMAT,
  title: "GitHub Copilot CLI",
  rejects: ({ records }) =>
    records.some(({ type, data }) => type === "session.start" && isObject(data))
      ? undefined
      : "has no line of type `session.start` with `data`",
  read,
})
