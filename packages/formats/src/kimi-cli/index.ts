/** The sessions of Kimi CLI: `sessions/<folder>/<id>/context.jsonl` in `~/.kimi`. Only read. */
import { defineFormat, type Format } from "../base/format.ts"
import { FORMAT } from "./codec.ts"
import { read } from "./read.ts"

export { KIMI_SESSION } from "./place.ts"

export const kimiCli: Format = defineFormat({
  format: FORMAT,
  title: "Kimi CLI",
  versions: "0.8 to 1.x",
  rejects: ({ records }) =>
    records.some(({ role }) => typeof role === "string" && OWN.has(role))
      ? undefined
      : "has no line whose `role` is `_checkpoint`, `_usage` or `_system_prompt`",
  read,
})

/** Roles of records that are no messages. Every context begins with one of them. */
const OWN: ReadonlySet<string> = new Set(["_checkpoint", "_usage", "_system_prompt"])
