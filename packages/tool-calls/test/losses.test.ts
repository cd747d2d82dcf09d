/** A turn that has lost its lease, and a log that has lost lines: no other writer was faster, so nothing is tried again. */
import { createMemoryLocation, type MemoryLocation } from "@sessions/memory"
import { describe, expect, test } from "vitest"
import { answer, call, type Process, question, rejected, startProcess, stored } from "./world.ts"

/** Another process takes the lease, and this one has not read of it. */
async function takeLease(location: MemoryLocation): Promise<void> {
  const { session } = await startProcess(location)
  await session.turn(() => undefined, { lease: { fence: 99 } })
}

/** The log is put back to its first lines, as from a backup. */
function putBack(location: MemoryLocation, count: number): void {
  const log = location.logs.get("s")
  if (log === undefined) throw new Error("There is no log.")
  log.lines.length = count
  log.bytes = log.lines.reduce((sum, line) => sum + new TextEncoder().encode(line).length + 1, 0)
}

const LOSSES = {
  "lost lease": { lose: takeLease, error: { code: "conflict", leaseLost: true } },
  "log that was put back": {
    lose: async (location: MemoryLocation) => putBack(location, 3),
    error: { code: "conflict", lost: expect.arrayContaining([expect.objectContaining({ id: "answer" })]) as unknown },
  },
} as const

/** Runs a call or more in a turn whose model has asked for one, behind an older question and its answer; how often it appended, and what it threw. */
async function inLosingTurn(act: (process: Process, location: MemoryLocation) => Promise<unknown>) {
  const location = createMemoryLocation()
  const process = await startProcess(location, { onUnknown: () => ({ output: "found out" }) })
  const { session, calls, storage } = process
  await session.append([question(), { ...answer(), id: "first" }])
  let thrown: unknown
  let before = 0
  const count = (): number => storage.calls.filter(({ operation }) => operation === "append").length
  const turn = session.turn(
    async (inner) => {
      await inner.append([question(), calls.record])
      await inner.append(answer(call("a")))
      before = count()
      thrown = await rejected(act(process, location))
      throw thrown
    },
    { lease: 30_000 },
  )
  expect(await rejected(turn)).toMatchObject({ code: "conflict" })
  const reader = await startProcess(location)
  const roles = (await reader.session.messages()).messages.map(({ message }) => message.role)
  return { thrown, appends: count() - before, starts: await stored(reader.session, "tool_start"), roles }
}

describe.each(Object.entries(LOSSES))("after a %s", (_, { lose, error }) => {
  test("`run` starts nothing, and says so at the first refusal", async () => {
    const { thrown, appends, starts } = await inLosingTurn(async ({ calls }, location) => {
      await lose(location)
      await calls.run(call("a"), () => expect.unreachable())
    })
    expect(thrown).toMatchObject(error)
    expect(starts).toEqual([])
    expect(appends).toBe(1)
  })

  test("the result of a call that has run is not added, and the error has what was lost beside the outcome", async () => {
    const { thrown, appends, roles } = await inLosingTurn(async ({ calls }, location) => {
      await calls.run(call("a"), async () => {
        await lose(location)
        return "charged"
      })
    })
    expect(thrown).toMatchObject({ ...error, outcome: { output: "charged" } })
    expect(roles).not.toContain("toolResult")
    // The start and the result.
    expect(appends).toBe(2)
  })

  test("`resume` rejects, and no call is said to be held", async () => {
    const { thrown } = await inLosingTurn(async ({ calls }, location) => {
      await lose(location)
      await calls.resume({ charge: () => expect.unreachable() })
    })
    expect(thrown).toMatchObject(error)
  })
})

test("a result that comes when others have read of the lost lines is not added behind an answer that did not ask for it", async () => {
  const location = createMemoryLocation()
  const { session, calls } = await startProcess(location)
  await session.append([question(), { ...answer(), id: "first" }])
  await session.append([question(), calls.record])
  await session.append(answer(call("a")))
  const ran = calls.run(call("a"), async () => {
    putBack(location, 3)
    expect(await rejected(session.append(question("And now?")))).toMatchObject({ lost: expect.anything() })
    return "charged"
  })
  expect(await rejected(ran)).toMatchObject({ code: "conflict", outcome: { output: "charged" } })
  const reader = await startProcess(location)
  expect((await reader.session.messages()).messages.map(({ message }) => message.role)).toEqual(["user", "assistant"])
})

test("a loss that a run meets whose caller has aborted is told by the next call", async () => {
  const location = createMemoryLocation()
  const { session, calls, storage } = await startProcess(location)
  await session.append(question())
  const kept = location.logs.get("s")?.lines.length ?? 0
  await session.append([calls.record, answer(call("a"))])
  const release = storage.hold("append")
  const before = storage.calls.length
  const stop = new AbortController()
  const run = rejected(calls.run(call("a"), () => expect.unreachable(), { signal: stop.signal }))
  await expect.poll(() => storage.calls.slice(before).map(({ operation }) => operation)).toContain("append")
  stop.abort()
  expect(await run).toBe(stop.signal.reason)
  putBack(location, kept)
  release()
  // Behind the start, which meets the loss.
  await session.refresh()
  expect(await rejected(calls.resume({}))).toMatchObject({ code: "conflict", lost: [{}, { id: "answer" }] })
  expect(await calls.resume({})).toEqual([])
})
