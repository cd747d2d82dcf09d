/** Turns with a lease: one at a time in all processes, also if a process stands still, loses answers, or ends without a word. */
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest"
import {
  documentOf,
  docsOf,
  type FaultyDocs,
  fences,
  KEY,
  passing,
  pause,
  process,
  processes,
  within,
} from "../../test/leased-processes.ts"
import { assistant, codeOf, contextTexts, note, reopened, storedEntries, user } from "../../test/writers.ts"
import { StorageError } from "../storage/errors.ts"
import { sessionBranches } from "../transfer/index.ts"
import type { Session } from "./types.ts"

const LEASE = 3_000

// Loading code takes real time.
beforeAll(() => import("./features/seldom.ts"))
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.restoreAllMocks().useRealTimers())

test("of two turns at once in two processes the second begins behind the first: one conversation, without a branch", async () => {
  const { location, one, two } = await processes()
  const order: string[] = []
  const turn = (session: Session, name: string): Promise<void> =>
    session.turn(
      async (inner) => {
        await inner.append(user(name))
        order.push(`${name} read ${(await contextTexts(inner)).join()}`)
        await pause(1_000)
        await inner.append(assistant(`to ${name}`))
      },
      { lease: LEASE },
    )
  await passing(Promise.all([turn(one, "a"), turn(two, "b")]))
  expect(order).toEqual(["a read a", "b read a,to a,b"])
  const opened = await reopened(location)
  expect(await contextTexts(opened)).toEqual(["a", "to a", "b", "to b"])
  expect((await sessionBranches(opened)).length).toBe(1)
  expect((await fences(location)).map(({ fence }) => fence)).toEqual([1, 2])
  expect(await documentOf(location)).toEqual({ v: 1, fence: 2 })
})

test("a lease is renewed while the turn runs, however long that is", async () => {
  const { location, one, two } = await processes()
  const first = one.turn(
    async (inner, { signal }) => {
      await inner.append(user("a"))
      await pause(10 * LEASE)
      expect(signal?.aborted).toBe(false)
      await inner.append(assistant("to a"))
    },
    { lease: LEASE },
  )
  await vi.advanceTimersByTimeAsync(100)
  await passing(Promise.all([first, two.turn((inner) => inner.append(user("b")), { lease: LEASE })]))
  expect(await contextTexts(await reopened(location))).toEqual(["a", "to a", "b"])
})

test.each([
  ["", false],
  [", also if the answer of the write that took it is lost", true],
])(
  "a turn that was refused first and then waited for longer than a lease has a whole one%s",
  async (_, loseAnswers) => {
    const { one, two, storageOne, storageTwo } = await processes()
    const turn = (session: Session, docs: FaultyDocs): Promise<void> =>
      session.turn(
        async (_inner, { signal }) => {
          docs.loseAnswers = false
          docs.stop()
          // The first renewal is sent after a third, and up to 800 ms have passed since the write when its answer was lost.
          await pause(0.7 * LEASE)
          docs.go()
          await pause(LEASE)
          expect(signal?.aborted).toBe(false)
        },
        { lease: LEASE },
      )
    const [first, second] = [docsOf(storageOne), docsOf(storageTwo)]
    second.loseAnswers = loseAnswers
    // Both find no document.
    await passing(Promise.all([turn(one, first), turn(two, second)]))
  },
)

test("a turn whose process has ended is waited for as long as its own lease, and no longer", async () => {
  const { location, two } = await processes()
  const dead = process(location)
  const session = await dead.sessions.open("s")
  void session.turn(
    async (inner) => {
      await inner.append(user("half"))
      dead.die()
      await new Promise(() => undefined)
    },
    { lease: 2 * LEASE },
  )
  await vi.advanceTimersByTimeAsync(100)
  let begun = false
  const next = two.turn(() => void (begun = true), { lease: LEASE })
  await vi.advanceTimersByTimeAsync(2 * LEASE - 200)
  expect(begun).toBe(false)
  await passing(next)
  expect(begun).toBe(true)
})

test("what a turn has in flight when another one takes its lease is not written, and the turn learns it", async () => {
  const { location, one, two, storageOne } = await processes()
  const release = { now: (): void => undefined }
  let aborted: unknown
  const first = codeOf(
    one.turn(
      async (inner, { signal }) => {
        signal?.addEventListener("abort", () => (aborted = signal.reason))
        await inner.append(user("a"))
        // The process stands still in the middle of its request, for longer than its lease.
        docsOf(storageOne).stop()
        release.now = storageOne.hold("append")
        await inner.append([assistant("to a"), note("of a")], { onConflict: "rebase" })
      },
      { lease: LEASE },
    ),
  )
  await vi.advanceTimersByTimeAsync(100)
  await passing(
    two.turn(
      async (inner) => {
        await inner.append(user("b"))
        release.now()
        docsOf(storageOne).go()
        expect(await first).toBe("conflict")
        await inner.append(assistant("to b"))
      },
      { lease: LEASE },
    ),
  )
  expect(await contextTexts(await reopened(location))).toEqual(["a", "b", "to b"])
  expect(aborted).toMatchObject({ code: "conflict" })
  await one.refresh()
  expect(await contextTexts(one)).toEqual(["a", "b", "to b"])
})

test.each(["lost request", "lost answer"] as const)(
  "an append with a %s is not repeated behind the fence of another turn",
  async (kind) => {
    const { location, one, two, storageOne } = await processes()
    const codes: unknown[] = []
    const first = codeOf(
      one.turn(
        async (inner) => {
          await inner.append(user("a"))
          docsOf(storageOne).stop()
          // The queue gives up, and finds out with the next append.
          storageOne.fail("append", kind === "lost request" ? "request lost" : "response lost")
          storageOne.fail("head", "unavailable", "unavailable", "unavailable")
          codes.push(await codeOf(inner.append(assistant("to a"))))
          await pause(3 * LEASE)
          codes.push(await codeOf(inner.append(note("more"))))
        },
        { lease: LEASE },
      ),
    )
    await vi.advanceTimersByTimeAsync(1_000)
    const second = two.turn(
      async (inner) => {
        await inner.append(user("b"))
        await pause(5 * LEASE)
        await inner.append(assistant("to b"))
      },
      { lease: LEASE },
    )
    await passing(Promise.all([first, second]))
    expect(codes).toEqual(["indeterminate", "conflict"])
    expect(await first).toBe("conflict")
    const texts = await contextTexts(await reopened(location))
    expect(texts).toEqual(kind === "lost request" ? ["a", "b", "to b"] : ["a", "to a", "b", "to b"])
  },
)

test("a turn that reads the fence of another one without an append writes nothing more, also through slow hooks", async () => {
  const location = createMemoryLocation()
  const first = process(location, { append: () => pause(100) })
  const [one, two] = [await first.sessions.create({ id: "s" }), await process(location).sessions.open("s")]
  const codes: unknown[] = []
  const turn = one.turn(
    async (inner) => {
      await inner.append(user("a"))
      docsOf(first.storage).stop()
      await pause(2 * LEASE)
      const slow = codeOf(inner.append(assistant("slow")))
      await inner.refresh()
      codes.push(await slow, await codeOf(inner.append(assistant("to a"))))
    },
    { lease: LEASE },
  )
  await vi.advanceTimersByTimeAsync(1_000)
  const other = two.turn(
    async (inner) => {
      await inner.append(user("b"))
      await pause(2 * LEASE)
    },
    { lease: LEASE },
  )
  expect(await passing(codeOf(turn))).toBe("conflict")
  expect(codes).toEqual(["conflict", "conflict"])
  await passing(other)
  expect(await contextTexts(await reopened(location))).toEqual(["a", "b"])
})

test("a turn that was written before it lost its lease has succeeded", async () => {
  const { one, two, storageOne } = await processes()
  const turn = one.turn(
    async (inner) => {
      await inner.append([user("a"), assistant("to a")])
      docsOf(storageOne).stop()
      await pause(3 * LEASE)
      await inner.refresh()
      return "written"
    },
    { lease: LEASE },
  )
  await vi.advanceTimersByTimeAsync(100)
  await passing(two.turn(() => undefined, { lease: LEASE }))
  expect(await passing(turn)).toBe("written")
})

test("what a turn has left with an unknown outcome does not stop the next turn of its process", async () => {
  const { location, one, two, storageOne } = await processes()
  const first = one.turn(
    async (inner) => {
      storageOne.fail("append", "request lost")
      storageOne.fail("head", ...Array.from({ length: 6 }, () => "unavailable" as const))
      await inner.append(user("a"))
    },
    { lease: LEASE },
  )
  expect(await passing(codeOf(first))).toBe("indeterminate")
  await passing(two.turn((inner) => inner.append(user("b")), { lease: LEASE }))
  await passing(one.turn((inner) => inner.append(user("c")), { lease: LEASE }))
  expect(await contextTexts(await reopened(location))).toEqual(["b", "c"])
})

test("a process that stood still for longer than its lease goes on if no other turn has taken it", async () => {
  const { location, one, storageOne } = await processes()
  const turn = one.turn(
    async (inner, { signal }) => {
      await inner.append(user("a"))
      docsOf(storageOne).stop()
      await pause(LEASE - 1)
      docsOf(storageOne).go()
      await pause(LEASE)
      expect(signal?.aborted).toBe(false)
      await inner.append(assistant("to a"))
    },
    { lease: LEASE },
  )
  await passing(turn)
  expect(await contextTexts(await reopened(location))).toEqual(["a", "to a"])
})

test("a process that stood still asks whether it still has the lease, and waits for the answer", async () => {
  const { location, one, storageOne } = await processes()
  const now = performance.now.bind(performance)
  let stood = 0
  vi.spyOn(performance, "now").mockImplementation(() => now() + stood)
  const turn = one.turn(
    async (inner, { signal }) => {
      await inner.append(user("a"))
      stood = 2 * LEASE
      docsOf(storageOne).stop()
      await pause(LEASE / 2)
      docsOf(storageOne).go()
      await pause(LEASE)
      expect(signal?.aborted).toBe(false)
      await inner.append(assistant("to a"))
    },
    { lease: LEASE },
  )
  await passing(turn)
  expect(await contextTexts(await reopened(location))).toEqual(["a", "to a"])
})

test("a turn whose renewals are not answered for a whole lease has lost it", async () => {
  const { one, storageOne } = await processes()
  const seen: unknown[] = []
  const turn = one.turn(
    async (inner, { signal }) => {
      await inner.append(user("a"))
      docsOf(storageOne).fail = () => new StorageError("unavailable", "Nobody answers.")
      await pause(2 * LEASE)
      seen.push(signal?.aborted, await codeOf(inner.append(assistant("to a"))))
      return "swallowed"
    },
    { lease: LEASE },
  )
  expect(await passing(codeOf(turn))).toBe("conflict")
  expect(seen).toEqual([true, "conflict"])
})

test("a turn whose renewal stays open for ever has lost the lease, and its end waits for no answer", async () => {
  const { one, two, storageOne } = await processes()
  const seen: unknown[] = []
  const turn = one.turn(
    async (inner, { signal }) => {
      await inner.append(user("a"))
      docsOf(storageOne).stop()
      await pause(2 * LEASE)
      seen.push(signal?.aborted, await codeOf(inner.append(assistant("to a"))))
    },
    { lease: LEASE },
  )
  expect(await within(4 * LEASE, codeOf(turn))).toBe("conflict")
  expect(seen).toEqual([true, "conflict"])
  // The same of the write that gives the lease back.
  docsOf(storageOne).go()
  const last = one.turn(() => (docsOf(storageOne).stop(), "ended"), { lease: LEASE })
  expect(await within(4 * LEASE, last)).toBe("ended")
  await passing(two.turn((inner) => inner.append(user("b")), { lease: LEASE }))
})

test("renewals whose answers are lost are found in the document", async () => {
  const { location, one, storageOne } = await processes()
  const docs = docsOf(storageOne)
  docs.loseAnswers = true
  await passing(
    one.turn(
      async (inner) => {
        await inner.append(user("a"))
        await pause(5 * LEASE)
        await inner.append(assistant("to a"))
      },
      { lease: LEASE },
    ),
  )
  expect(await contextTexts(await reopened(location))).toEqual(["a", "to a"])
  expect(await documentOf(location)).toEqual({ v: 1, fence: 1 })
})

test("the lease ends with the turn, also with one that throws", async () => {
  const { location, one, two } = await processes()
  const failing = one.turn(
    () => {
      throw new RangeError("the model is out of office")
    },
    { lease: LEASE },
  )
  await expect(failing).rejects.toThrow("out of office")
  expect(await documentOf(location)).toEqual({ v: 1, fence: 1 })
  expect(await two.turn((_, { fence }) => fence, { lease: LEASE })).toBe(2)
})

test('busy: "reject" rejects at once while another process, or another turn of this one, runs', async () => {
  const { one, two } = await processes()
  let end = (): void => undefined
  const first = one.turn(() => new Promise<void>((resolve) => (end = resolve)), { lease: LEASE })
  await vi.advanceTimersByTimeAsync(100)
  const rejects = (session: Session): Promise<unknown> =>
    codeOf(session.turn(() => expect.unreachable(), { lease: LEASE, busy: "reject" }))
  expect(await rejects(two)).toBe("conflict")
  expect(await rejects(one)).toBe("conflict")
  // The second one waits until the holder has written again.
  expect(await passing(rejects(two))).toBe("conflict")
  end()
  await passing(first)
  expect(await two.turn(() => "runs", { lease: LEASE, busy: "reject" })).toBe("runs")
})

test('busy: "reject" does not turn away for ever behind a process that has ended', async () => {
  const { location } = await processes()
  const dead = process(location)
  const session = await dead.sessions.open("s")
  void session.turn(
    () => {
      dead.die()
      return new Promise(() => undefined)
    },
    { lease: LEASE },
  )
  await vi.advanceTimersByTimeAsync(100)
  // Each is a process that has seen nothing before.
  const attempt = async (): Promise<unknown> => {
    const one = await process(location).sessions.open("s")
    return codeOf(
      one.turn(() => undefined, { lease: LEASE, busy: "reject" }).then(() => Promise.reject({ code: "ran" })),
    )
  }
  expect(await attempt()).toBe("conflict")
  expect(await passing(attempt())).toBe("ran")
})

test("a signal ends the wait for the lease", async () => {
  const { one, two } = await processes()
  let end = (): void => undefined
  const first = one.turn(() => new Promise<void>((resolve) => (end = resolve)), { lease: LEASE })
  await vi.advanceTimersByTimeAsync(100)
  const controller = new AbortController()
  const second = codeOf(two.turn(() => expect.unreachable(), { lease: LEASE, signal: controller.signal }))
  await vi.advanceTimersByTimeAsync(100)
  controller.abort()
  expect(await second).toBe("aborted")
  end()
  await passing(first)
})

test("a turn with a lease that other writers disturb runs again, under the same fence", async () => {
  const { location, one, two } = await processes()
  const seen: unknown[] = []
  await passing(
    one.turn(
      async (inner, { attempt, fence }) => {
        seen.push([attempt, fence])
        if (attempt === 0) await two.append(user("without a lease", "b"))
        await inner.append(user("a"))
      },
      { lease: LEASE },
    ),
  )
  expect(seen).toEqual([
    [0, 1],
    [1, 1],
  ])
  expect(await contextTexts(await reopened(location))).toEqual(["without a lease", "a"])
})

test("a fence is greater than those of the log, also if the document is gone or cannot be read", async () => {
  const { location, one } = await processes()
  for (const text of [undefined, "{}", '{"v":2}']) {
    // What nobody can read is nobody's sign of life: it is taken after one lease.
    await passing(one.turn(() => undefined, { lease: LEASE }))
    const { docs } = createMemoryStorage({ location })
    const { version } = (await docs.get(KEY)) as { version: string }
    if (text === undefined) await docs.delete(KEY, { expect: version })
    else await docs.put(KEY, text, { expect: version })
  }
  await passing(one.turn(() => undefined, { lease: LEASE }))
  expect((await fences(location)).map(({ fence }) => fence)).toEqual([1, 2, 3, 4])
})

test("a session that was deleted while a turn waited leaves no document", async () => {
  const { location, one, two } = await processes()
  let end = (): void => undefined
  const first = codeOf(one.turn(() => new Promise<void>((resolve) => (end = resolve)), { lease: LEASE }))
  await vi.advanceTimersByTimeAsync(100)
  const second = codeOf(two.turn(() => undefined, { lease: LEASE }))
  await createMemoryStorage({ location }).delete("s")
  expect(await passing(second)).toBe("not_found")
  end()
  await passing(first)
  expect(await documentOf(location)).toBe(undefined)
})

test("wrong options are `invalid`, and a turn inside a turn is, too", async () => {
  const { one } = await processes()
  for (const o of [
    { lease: 30 },
    { lease: "30s" },
    { lease: 4_000_000 },
    { lease: { fence: 0 } },
    { lease: { fense: 1 } },
    { lease: LEASE, busy: "no" },
    { busy: "wait" },
  ])
    expect(await codeOf(one.turn(() => undefined, o as object)), JSON.stringify(o)).toBe("invalid")
  const nested = one.turn(() => codeOf(one.turn(() => undefined, { lease: LEASE })), { lease: LEASE })
  expect(await nested).toBe("invalid")
})

test("a turn with the number of a lease of one's own shuts out what holders with lower numbers have in flight", async () => {
  const { location, one, two, storageOne } = await processes()
  let aborted: unknown
  const first = codeOf(
    one.turn(
      async (inner, { fence, signal }) => {
        expect(fence).toBe(33)
        signal?.addEventListener("abort", () => (aborted = signal.reason))
        await inner.append(user("a"))
        const release = storageOne.hold("append")
        const late = inner.append(note("of a"), { onConflict: "rebase" })
        await two.turn((other) => other.append(user("b")), { lease: { fence: 34 } })
        release()
        await late
      },
      { lease: { fence: 33 } },
    ),
  )
  expect(await passing(first)).toBe("conflict")
  expect(aborted).toMatchObject({ code: "conflict" })
  expect((await storedEntries(location)).map(({ type }) => type)).toEqual(["fence", "message", "fence", "message"])
  expect(await documentOf(location)).toBe(undefined)
})

test("a turn with a number that the log has passed is not begun, and the error names the last one", async () => {
  const { one } = await processes()
  await passing(one.turn(() => undefined, { lease: { fence: 7 } }))
  for (const fence of [6, 7]) {
    const turn = one.turn(() => expect.unreachable(), { lease: { fence } })
    await expect(passing(turn)).rejects.toMatchObject({ code: "conflict", fence: 7 })
  }
  // Leases of the storage go on behind it.
  expect(await passing(one.turn((_, { fence }) => fence, { lease: LEASE }))).toBe(8)
})
