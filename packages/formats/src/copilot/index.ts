/** The sessions of GitHub Copilot CLI: `session-state/<id>/events.jsonl` in `~/.copilot`, one event a line. */
import { defineFormat, type Format, type Writer } from "../base/format.ts"
import { isObject } from "../base/values.ts"
import { wellFormedWriter } from "../base/well-formed.ts"
import { FORMAT } from "./codec.ts"
import { read } from "./read.ts"
import { write } from "./write.ts"

export { copilotPathOf } from "./place.ts"

export const copilot: Format & Writer = {
  ...defineFormat({
    format: FORMAT,
    title: "GitHub Copilot CLI",
    versions: "1.0",
    rejects: ({ records }) =>
      records.some(({ type, data }) => type === "session.start" && isObject(data))
        ? undefined
        : "has no line of type `session.start` with `data`",
    read,
  }),
  write: wellFormedWriter(FORMAT, write),
}
