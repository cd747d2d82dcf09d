import { automaticCompaction, compact, makeRoom } from "@sessions/core/compaction"
import { expect, test } from "vitest"
import { startCompacting } from "../../../test/compacting.ts"
import { storedEntries, user } from "../../../test/writers.ts"
import { unitsOfTexts } from "../../context/view/step-forms.ts"
import type { NewEntry } from "../../format/new-entry.ts"
import type { Session } from "../../session/types.ts"

const TOO_LONG = new Error("prompt is too long")
const LONG = "word ".repeat(4_000)

const called = (id: string, call: string): NewEntry => ({
  type: "message",
  id,
  message: { role: "assistant", content: [{ type: "toolCall", id: call, name: "read", arguments: {} }] },
})

const result = (id: string, call: string, text: string): NewEntry => ({
  type: "message",
  id,
  message: { role: "toolResult", toolCallId: call, isError: false, content: [{ type: "text", text }] },
})

const MANY = 40

/** Refuses every request, until nothing is left to shorten. */
async function refuseAll(session: Session): Promise<unknown> {
  for (let refusals = 0; refusals < MANY; refusals++) {
    const code = await makeRoom(session, { error: TOO_LONG }).then(
      () => undefined,
      (error: { readonly code?: unknown }) => error.code,
    )
    if (code !== undefined) return code
  }
  return undefined
}

async function largest(session: Session): Promise<number> {
  const { messages } = await session.context()
  return Math.max(...messages.map(({ message }) => unitsOfTexts(message)))
}

test("a result that came behind a message of the user is cut like the others, and the ladder ends", async () => {
  let appends = 0
  const append = (): void => {
    if (++appends > MANY) throw new Error("the ladder does not end")
  }
  const { session, location } = await startCompacting({
    compaction: automaticCompaction({ contextWindow: 3_000 }),
    hooks: [{ append }],
  })
  await session.append([user("go", "u1"), called("a1", "c1"), user("hurry", "u2"), result("r1", "c1", LONG)])
  const { messages } = await session.context()
  expect(messages.map(({ entryId }) => entryId)).toEqual(["u1", "a1", "r1", "u2"])
  expect(await refuseAll(session)).toBe("no_room")
  expect(await largest(session)).toBeLessThanOrEqual(64)
  const cuts = (await storedEntries(location)).filter(({ step }) => step === "cut")
  expect(cuts.length).toBeLessThan(MANY)
})

test("a long summary before the question that it carries is cut like the messages", async () => {
  const { session } = await startCompacting({ compaction: automaticCompaction({ contextWindow: 3_000 }) })
  await session.append([user("a question", "u"), called("a1", "c1"), result("r1", "c1", LONG.repeat(2))])
  await session.append({
    type: "message",
    id: "a2",
    message: { role: "assistant", content: "It", stopReason: "length" },
  })
  await compact(session, { keepRecentTokens: 0, contextWindow: 100_000, summarize: async () => LONG })
  const { messages } = await session.context()
  expect(messages.map(({ kind, entryId }) => (kind === "compaction" ? kind : entryId))).toEqual(["compaction", "u"])
  expect(await refuseAll(session)).toBe("no_room")
  expect(await largest(session)).toBeLessThanOrEqual(64)
})

const said = (id: string): NewEntry => ({ type: "message", id, message: { role: "assistant", content: "going on" } })

test.each(["results", "images"])("a late result does not take unread %s with it", async (kind) => {
  const image = { type: "image", data: "A".repeat(40_000), mimeType: "image/png" } as const
  const content = kind === "images" ? [image] : LONG
  const late = (id: string, call: string): NewEntry => ({
    type: "message",
    id,
    message: { role: "toolResult", toolCallId: call, isError: false, content },
  })
  const { session } = await startCompacting({ compaction: automaticCompaction({ contextWindow: 3_000 }) })
  await session.append([user("go", "u1"), called("a1", "c0"), late("r0", "c0"), called("a2", "c1"), said("a3")])
  await session.append([said("a4"), said("a5"), called("a6", "c2"), late("r2", "c2"), late("r1", "c1")])
  expect((await session.context()).messages.map(({ entryId }) => entryId).slice(2, 5)).toEqual(["r0", "a2", "r1"])
  await makeRoom(session)
  expect((await session.context()).shortened?.map(({ entryId }) => entryId)).toEqual(["r0"])
})
