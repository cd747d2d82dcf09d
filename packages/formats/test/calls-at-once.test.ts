/** Some agents have a message for each of several calls at once, with the results behind all of them. */
import { expect, test } from "vitest"
import { claudeCode } from "../src/claude-code/index.ts"
import { fieldsOf } from "../src/base/values.ts"
import { importText, recordsOf, written } from "./laws.ts"
import { call, result, say, sessionWith } from "./odd-sessions.ts"

const IDS = ["c1", "c2", "c3"]

test("calls at once are lines of one message of Claude Code, which finds the results of no other", async () => {
  const calls = IDS.map((id) => call({ id, command: id }))
  const results = IDS.map((id) => result(id, `out ${id}`))
  const session = await sessionWith(say("user", "q"), ...calls, ...results, call({ id: "c4", command: "later" }))
  const text = await written(claudeCode, session)
  const ids = recordsOf(text)
    .map((record) => fieldsOf(fieldsOf(record)["message"]))
    .flatMap(({ role, id }) => (role === "assistant" ? [id] : []))
  expect(ids).toEqual([ids[0], ids[0], ids[0], expect.not.stringMatching(String(ids[0]))])
  const again = await importText(claudeCode, { text })
  const { messages } = await again.session.context({ repair: "none" })
  const shown = messages.map(({ message }) => `${message.role} ${message.content.length}`)
  expect(shown).toEqual(["user 1", "assistant 3", "toolResult 1", "toolResult 1", "toolResult 1", "assistant 1"])
})
