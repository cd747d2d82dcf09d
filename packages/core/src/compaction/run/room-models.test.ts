/** Which model a refusal, an answer and a step belong to. */
import { automaticCompaction, makeRoom } from "@sessions/core/compaction"
import { expect, test } from "vitest"
import { startCompacting } from "../../../test/compacting.ts"
import { user } from "../../../test/writers.ts"
import { buildSessionContext } from "../../context/build.ts"
import type { Entry } from "../../format/entry.ts"
import type { Header } from "../../format/header.ts"
import type { NewEntry } from "../../format/new-entry.ts"

const TOO_LONG = new Error("prompt is too long")
const TOO_MANY_BYTES = Object.assign(new Error("Request exceeds the maximum size"), { status: 413 })
const words = (count: number): string => "word ".repeat(count)

const answered = (input: number, more: object = {}): NewEntry =>
  ({
    type: "message",
    message: { role: "assistant", content: "ok", usage: { input, output: 3 }, ...more },
  }) as unknown as NewEntry

const chosen = (model: string): NewEntry => ({ type: "model_change", provider: "p", model })

test("a chosen model has accepted what was answered under a dated name of it", async () => {
  const { session } = await startCompacting({ compaction: automaticCompaction({ windows: { "gpt-4o": 8_000 } }) })
  const dated = { provider: "p", model: "gpt-4o-2024-08-06" }
  await session.append([chosen("gpt-4o"), user(words(3_000)), answered(12_000, dated)])
  expect(await makeRoom(session)).toMatchObject({ limit: 12_000 })
  await makeRoom(session, { error: TOO_LONG })
  const refused = await makeRoom(session)
  expect(refused.limit).toBeLessThan(12_000)
  await session.append([answered(12_500, dated)])
  expect(await makeRoom(session)).toMatchObject({ limit: 12_500 })
})

test("the model of the header has accepted what was answered without a name", () => {
  const header = { provider: "p", modelId: "m" } as unknown as Header
  const { provider, modelId } = header as unknown as Record<string, string>
  const at = { timestamp: "2026-01-01T00:00:00.000Z" }
  const refusal = {
    type: "context_refusal",
    kind: "tokens",
    count: 8_500,
    units: 9_000,
    bytes: 9,
    provider,
    model: modelId,
  }
  const log = [user("go"), refusal, answered(9_000)].map((entry, seq) => {
    const parentId = seq === 0 ? null : `e${seq - 1}`
    return { ...at, ...entry, id: `e${seq}`, parentId, seq } as unknown as Entry
  })
  expect(buildSessionContext(log, undefined, { header, window: 20_000 }).fits).toBe(true)
})

test("what a model accepts raises the bytes that it has refused, if its answers name no model", async () => {
  const { session } = await startCompacting({ compaction: automaticCompaction({ contextWindow: 100_000 }) })
  const talk = [user(words(2_000)), answered(2_600)]
  await session.append([chosen("m"), ...talk, user("q")])
  await makeRoom(session, { error: TOO_MANY_BYTES })
  expect((await session.context({ window: 100_000 })).fits).toBe(true)
  await session.append([answered(2_000), ...talk, ...talk, user("q")])
  expect((await session.context({ window: 100_000 })).fits).toBe(true)
})

test("a step that the model of an answer undoes is not in the reports behind it", async () => {
  const { session } = await startCompacting({
    compaction: automaticCompaction({ windows: { small: 4_000, large: 100_000 } }),
  })
  const by = (model: string): object => ({ provider: "p", model })
  const tool = (n: number, text: string): readonly NewEntry[] =>
    [
      {
        type: "message",
        message: {
          role: "assistant",
          content: [{ type: "toolCall", id: `c${n}`, name: "read", arguments: {} }],
          ...by("small"),
        },
      },
      { type: "message", message: { role: "toolResult", toolCallId: `c${n}`, isError: false, content: text } },
    ] as unknown as readonly NewEntry[]
  await session.append([user("go"), ...tool(1, words(4_000)), ...[2, 3, 4].flatMap((n) => tool(n, "ok"))])
  expect(await makeRoom(session)).toMatchObject({ step: "results", fits: true })
  await session.append([answered(700, by("large")), user("more")])
  const whole = await session.context()
  expect(whole.shortened ?? []).toEqual([])
  await session.append([answered(whole.tokens, by("large")), user("more")])
  expect(Math.abs((await session.context()).tokens - whole.tokens)).toBeLessThan(100)
})
