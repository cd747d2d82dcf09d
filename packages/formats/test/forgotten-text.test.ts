/** A text that was deleted or edited is in no file that the session is written as, also if one record of the source has other entries. */
import { expect, test } from "vitest"
import { anthropic } from "../src/anthropic/index.ts"
import { atif } from "../src/atif/index.ts"
import { claudeCode } from "../src/claude-code/index.ts"
import { codex } from "../src/codex/index.ts"
import type { Format } from "../src/base/format.ts"
import { writers } from "../src/formats.ts"
import { importText, written } from "./laws.ts"

const jsonl = (...records: readonly object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("")
const result = (id: string, content: string) => ({ type: "tool_result", tool_use_id: id, content })
const claudeLine = (uuid: string, parentUuid: string | null, message: object, more: object = {}) => ({
  type: (message as { role: string }).role,
  uuid,
  parentUuid,
  sessionId: "s",
  cwd: "/w",
  message,
  timestamp: "2026-01-01T00:00:00.000Z",
  ...more,
})
const calls = ["a", "b"].map((id) => ({ type: "tool_use", id, name: "read", input: {} }))
const again = claudeLine("u3", "u2", { role: "user", content: "SECRET" })
const rollout = (type: string, payload: object) => ({ timestamp: "2026-01-01T00:00:00.000Z", type, payload })
const item = (role: string, text: string) =>
  rollout("response_item", { type: "message", role, content: [{ type: "input_text", text }] })

const sources: readonly (readonly [name: string, format: Format, text: string])[] = [
  [
    "a result beside another one on a line of Claude Code, whose `toolUseResult` repeats it",
    claudeCode,
    jsonl(
      claudeLine("u1", null, { role: "user", content: "q" }),
      claudeLine("u2", "u1", { id: "m", role: "assistant", content: calls }),
      claudeLine(
        "u3",
        "u2",
        { role: "user", content: [result("a", "SECRET"), result("b", "r")] },
        { toolUseResult: { stdout: "SECRET" } },
      ),
    ),
  ],
  [
    "a line of Claude Code that is there twice",
    claudeCode,
    jsonl(
      claudeLine("u1", null, { role: "user", content: "q" }),
      claudeLine("u2", "u1", { id: "m", role: "assistant", content: [{ type: "text", text: "a" }] }),
      again,
      again,
      claudeLine("u4", "u3", { role: "user", content: "on" }),
    ),
  ],
  [
    "a result of a step of ATIF",
    atif,
    JSON.stringify({
      schema_version: "ATIF-v1.7",
      session_id: "s",
      steps: [
        {
          step_id: 1,
          source: "agent",
          message: "ok",
          tool_calls: calls.map(({ id }) => ({ tool_call_id: id, function_name: "read", arguments: {} })),
          observation: {
            results: [
              { source_call_id: "a", content: "r" },
              { source_call_id: "b", content: "SECRET" },
            ],
          },
        },
      ],
    }),
  ],
  [
    "the system prompt of a request to Anthropic",
    anthropic,
    JSON.stringify({ system: "SECRET", messages: [{ role: "user", content: "q" }] }),
  ],
  [
    "instructions of Codex that a later compaction repeats",
    codex,
    jsonl(rollout("session_meta", { id: "s" }), item("developer", "SECRET"), item("user", "q"), item("user", "q2")),
  ],
]

test.each(sources)("%s", async (_, format, text) => {
  for (const change of ["delete", "edit"] as const) {
    const { session, entries } = await importText(format, { text })
    const target = entries.find(({ type, message }) => type === "message" && JSON.stringify(message).includes("SECRET"))
    const last = entries.at(-1)
    const files = { readFiles: [], modifiedFiles: [] }
    if (format === codex)
      await session.append({
        type: "compaction",
        summary: "S",
        firstKeptEntryId: last?.id ?? "",
        tokensBefore: 1,
        ...files,
      })
    if (change === "delete") await session.tombstone(target?.id ?? "")
    else await session.edit(target?.id ?? "", { content: [{ type: "text", text: "new" }] })
    for (const writer of writers)
      expect(await written(writer, session), `${change}, ${writer.format}`).not.toContain("SECRET")
  }
})
