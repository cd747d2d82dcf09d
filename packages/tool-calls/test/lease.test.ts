/** Calls of turns with a lease: they are `running` as long as their turn may go on, and nobody is asked what has become of them. */
import { createMemoryLocation } from "@sessions/memory"
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest"
import { answer, call, callsOf, codeOf, question, startProcess, stored } from "./world.ts"

const LEASE = 3_000

// Loading code takes real time.
beforeAll(() =>
  Promise.all([
    import("../../core/src/session/features/seldom.ts"),
    import("../../core/src/session/features/context.ts"),
  ]),
)
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A process in a turn with a lease, in the middle of its call. */
async function charging() {
  const location = createMemoryLocation()
  const { session, calls, storage } = await startProcess(location)
  let charged: (() => void) | undefined
  const turn = session.turn(
    async (inner) => {
      await inner.append([question(), calls.record])
      await inner.append(answer(call("a")))
      await calls.run(call("a"), () => new Promise<void>((resolve) => (charged = resolve)))
    },
    { lease: LEASE },
  )
  turn.catch(() => undefined)
  await until(() => charged !== undefined)
  return { location, turn, session, storage, end: () => charged?.() }
}

async function passing<T>(promise: Promise<T>): Promise<T> {
  let settled = false
  const end = (): void => void (settled = true)
  promise.then(end, end)
  await until(() => settled)
  return promise
}

/** Lets the time pass. Hashing takes real time. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await vi.advanceTimersByTimeAsync(1)
}

test("the start of a call has the fence of its turn, and only while that has the lease it is running", async () => {
  const { location, turn, session, end } = await charging()
  expect((await stored(session, "tool_start")).map(({ fence }) => fence)).toEqual([1])
  expect(await callsOf(session)).toMatchObject([{ state: "running", since: 0 }])
  const reader = await startProcess(location)
  expect(await callsOf(reader.session)).toMatchObject([{ state: "running", since: 0 }])
  await vi.advanceTimersByTimeAsync(5 * LEASE)
  expect((await callsOf(reader.session))[0]?.state).toBe("running")
  end()
  await turn
  await reader.session.refresh()
  expect((await callsOf(reader.session))[0]?.state).toBe("done")
})

test("of a call whose turn is running nobody asks what has become of it, and it is not run", async () => {
  const { location, turn, end } = await charging()
  const other = await startProcess(location, { onUnknown: () => expect.unreachable() })
  const [resumed] = await other.calls.resume({ charge: () => expect.unreachable() })
  expect(resumed).toMatchObject({ call: { state: "running" }, outcome: "held" })
  expect(await passing(codeOf(other.calls.run(call("a"), () => expect.unreachable())))).toBe("conflict")
  end()
  await turn
})

test("a call of a turn that shows no sign of life for a lease is unknown, and may then be said to be not done", async () => {
  const { location, storage } = await charging()
  // Its process ends.
  storage.hold("append")
  vi.spyOn(storage.docs, "put").mockImplementation(() => new Promise(() => undefined))
  const reader = await startProcess(location, { onUnknown: () => "not done" })
  expect((await callsOf(reader.session))[0]).toMatchObject({ state: "running", since: 0 })
  await vi.advanceTimersByTimeAsync(LEASE / 2)
  expect((await callsOf(reader.session))[0]).toMatchObject({ state: "running", since: LEASE / 2 })
  await vi.advanceTimersByTimeAsync(LEASE / 2)
  const [resumed] = await passing(reader.calls.resume({ charge: ({ attempt }) => `charged at ${attempt}` }))
  expect(resumed).toMatchObject({ call: { state: "unknown" }, outcome: "ran" })
})

test("in the next turn with a lease a call of an earlier one is unknown", async () => {
  const { location, storage } = await charging()
  storage.hold("append")
  vi.spyOn(storage.docs, "put").mockImplementation(() => new Promise(() => undefined))
  const next = await startProcess(location, { onUnknown: () => ({ output: "charged" }) })
  let outcomes: readonly unknown[] = []
  const turn = next.session.turn(
    async () => {
      outcomes = (await next.calls.resume({})).map(({ call: { state }, outcome }) => [state, outcome])
    },
    { lease: LEASE },
  )
  await passing(turn)
  expect(outcomes).toEqual([["unknown", "settled"]])
})

test("a call that started in a turn without a lease is never running", async () => {
  const location = createMemoryLocation()
  const { session, calls } = await startProcess(location)
  await session.turn(() => undefined, { lease: LEASE })
  await session.append([question(), calls.record])
  await session.append(answer(call("a")))
  let runs = false
  void calls.run(call("a"), () => ((runs = true), new Promise(() => undefined)))
  await until(() => runs)
  expect((await callsOf(session))[0]?.state).toBe("unknown")
})
