import { compact } from "@sessions/core/compaction"
import { expect, test } from "vitest"
import { fromAnthropic } from "../src/anthropic/index.ts"
import { newSession } from "./answers.ts"

test("an answer is what `summarize` may return, and one that was cut off is refused", async () => {
  const session = await newSession()
  const long = "a long question ".repeat(500)
  for (let i = 0; i < 4; i++)
    await session.append([
      { type: "message", message: { role: "user", content: long } },
      { type: "message", message: { role: "assistant", content: long } },
    ])
  const answer = (stop_reason: string) => async () =>
    fromAnthropic({ content: [{ type: "text", text: "## Goal\nAll of it", citations: null }], stop_reason }).message
  const cut = compact(session, { summarize: answer("max_tokens"), keepRecentTokens: 0 })
  await expect(cut).rejects.toThrow(expect.objectContaining({ code: "compaction_failed" }))
  await compact(session, { summarize: answer("end_turn"), keepRecentTokens: 0 })
  expect(JSON.stringify((await session.context()).messages)).toContain("All of it")
})
