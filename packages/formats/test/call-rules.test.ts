/** Ids and names of calls in written files are those that the API takes which the file is for, or to which its agent sends them. */
import type { NewEntry } from "@sessions/core"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { runs } from "../../../.config/runs.ts"
import { fieldsOf } from "../src/base/values.ts"
import { formats } from "../src/formats.ts"
import { importText, written } from "./laws.ts"
import { result, say, sessionWith } from "./odd-sessions.ts"

/** What the 400s of the APIs say: Anthropic of `tool_use.id`, Chat Completions of `tool_calls[].id`, Responses of `call_id`. */
const RULES: Readonly<Record<string, RegExp>> = {
  anthropic: /^[a-zA-Z0-9_-]+$/,
  "claude-code": /^[a-zA-Z0-9_-]+$/,
  "openai-messages": /^[^]{1,40}$/,
  "openai-responses": /^[^]{1,64}$/,
  "openai-agents": /^[^]{1,64}$/,
  codex: /^[^]{1,64}$/,
}
const NAMES: Readonly<Record<string, RegExp>> = {
  anthropic: /^[a-zA-Z0-9_-]{1,128}$/,
  "claude-code": /^[a-zA-Z0-9_-]{1,128}$/,
}
const NAME = /^[a-zA-Z0-9_-]{1,64}$/

const ids = fc.constantFrom(
  "c",
  "c 1",
  "c_1",
  "c_1-2",
  "call.ü",
  "x".repeat(40),
  "x".repeat(41),
  `${"x".repeat(64)}y`,
  `${"x".repeat(64)}z`,
)
const names = fc.constantFrom("bash", "server.tool", "a b", "ü".repeat(3), "n".repeat(65), "n".repeat(129))

/** Messages of one to three calls, whose ids may be those of earlier messages, each with a result that has its number. */
const rounds = fc.array(fc.tuple(fc.uniqueArray(ids, { minLength: 1, maxLength: 3 }), names), {
  minLength: 1,
  maxLength: 4,
})

function entriesOf(given: readonly (readonly [readonly string[], string])[], from = 0): NewEntry[] {
  let n = from
  return given.flatMap(([calls, name]): NewEntry[] => {
    const numbered = calls.map((id) => [id, String(n++)] as const)
    const content = numbered.map(([id, number]) => ({ type: "toolCall" as const, id, name, arguments: { number } }))
    const results = numbered.map(([id, number]) => result(id, number))
    return [{ type: "message", message: { role: "assistant", content } }, ...results, say("user", "on")]
  })
}

test.each(Object.keys(RULES))(
  "%s: ids and names are taken by the API, and each call has its own result",
  async (name) => {
    const format = formats.find((one) => one.format === name)
    const rule = RULES[name]
    if (format === undefined || rule === undefined) throw new Error(name)
    await fc.assert(
      fc.asyncProperty(rounds, rounds, async (first, later) => {
        const session = await sessionWith(say("user", "q"), ...entriesOf(first))
        const text = await written(format, session)
        const { session: again } = await importText(format, { text })
        await again.append(entriesOf(later, 100))
        for (const file of [text, await written(format, again)]) {
          const { messages } = await (await importText(format, { text: file })).session.context()
          const calls = messages.flatMap(({ message }) =>
            message.content.flatMap((block) => (block.type === "toolCall" ? [block] : [])),
          )
          const outs = messages.flatMap(({ message }) => (message.role === "toolResult" ? [message] : []))
          expect(calls.filter(({ id, name: called }) => !rule.test(id) || !(NAMES[name] ?? NAME).test(called))).toEqual(
            [],
          )
          expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length)
          expect(outs.map(({ toolCallId, content }) => [toolCallId, content[0]?.["text"]])).toEqual(
            calls.map(({ id, arguments: args }) => [id, fieldsOf(args)["number"]]),
          )
        }
      }),
      { numRuns: runs(12) },
    )
  },
)
