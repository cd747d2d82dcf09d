import { type CaseResult, cases, register, run, type Subject } from "@sessions/conformance"
import type { SessionStorage } from "@sessions/core/storage"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { describe, expect, test } from "vitest"
import { changed } from "../src/mutants/sound-subjects.ts"

const memory = changed("memory", () => ({}))
const quick = { timeLimit: 1_000 }

describe("a report", () => {
  test("has the version, the runtime, the capabilities, the counts, and each case with its clause", async () => {
    const report = await run(memory, { only: ["create", "TAILS-01"] })
    expect(report).toMatchObject({
      suite: "0.1.0",
      subject: "memory",
      capabilities: { durability: "none", writers: "host" },
    })
    expect(report.runtime).toMatch(/^(node|bun|deno) \d/)
    expect(report.counts).toEqual({ passed: report.results.length - 1, failed: 0, skipped: 1 })
    expect(report.results[0]).toMatchObject({
      id: "CREATE-01",
      group: "create",
      clause: "append.create",
      status: "passed",
    })
  })

  test("has the reason of a skipped case", async () => {
    const { results } = await run(memory, { only: ["tails", "watch-08"] })
    expect(results.map(({ status }) => status)).toEqual(results.map(() => "skipped"))
    expect(results[0]?.reason).toBe("needs the subject's tearTail()")
    expect(results.at(-1)?.reason).toBe("needs a storage without capabilities.watch")
  })

  test("has every case by default, and refuses an unknown name", async () => {
    await expect(run(memory, { only: ["CREATE-99"] })).rejects.toThrow("create-99")
    const seen: string[] = []
    await run(memory, {
      sizes: { sessions: 20, lines: 100, logBytes: 100_000, limitBytes: 1 },
      onResult: ({ id }) => seen.push(id),
    })
    expect(seen).toEqual(cases.map(({ id }) => id))
  })
})

describe("a failure", () => {
  test("has the case, the clause, the expected and the actual value, and the last call", async () => {
    const wrong = changed("wrong", () => ({ head: async () => undefined }))
    const failure = await failureOf(wrong, "CREATE-01")
    expect(failure).toMatchObject({ what: "head()", expected: expect.stringContaining('"next":2'), actual: "{}" })
    expect(failure?.message).toContain("CREATE-01 wrong: `expect: 0` creates a session")
    expect(failure?.message).toContain("append.create: `expect: 0` creates the session")
    expect(failure?.message).toContain('last call head("a")')
  })

  test("is also an uncaught error during the case", async () => {
    const errors: unknown[] = ["thrown in a timer"]
    const { results } = await run(memory, { only: ["CREATE-01", "CREATE-02"], uncaughtErrors: () => errors.splice(0) })
    expect(results.map(({ status }) => status)).toEqual(["failed", "passed"])
    expect(results[0]?.failure?.message).toContain("thrown in a timer")
  })

  test("shows characters that are easy to overlook", async () => {
    const wrong = changed("wrong", (real) => ({
      async *read(...args) {
        for await (const { from, lines } of real.read(...args)) {
          yield { from, lines: lines.map((line) => line.replaceAll("\u2028", " ")) }
        }
      },
    }))
    const failure = await failureOf(wrong, "APPEND-03")
    expect(failure?.expected).toContain("\\u2028")
    expect(failure?.actual).not.toContain("\\u2028")
  })

  test("of a hanging call names the call, and the run continues", async () => {
    const hanging = changed("hanging", (real) => ({
      append: (session, lines, o) => (lines.length === 2 ? new Promise(() => {}) : real.append(session, lines, o)),
    }))
    const { results } = await run(hanging, { ...quick, only: ["CREATE-01", "CREATE-07"] })
    expect(results.map(({ status }) => status)).toEqual(["failed", "passed"])
    expect(results[0]?.failure?.actual).toBe("it did not end within 1000 ms")
    expect(results[0]?.failure?.message).toContain('waits for append("a", ["{\\"n\\":0}","{\\"n\\":1}"], {"expect":0})')
  })

  test("of an endless iterable says so, and the case does not keep running", async () => {
    let rows = 0
    const endless = changed("endless", (real) => ({
      async *list() {
        if ((await real.head("a")) === undefined) return
        for (;;) yield { id: `s${rows++}`, next: 1, log: "x", bytes: 3, updatedAt: 0 }
      },
    }))
    expect((await failureOf(endless, "LIST-01"))?.actual).toBe("it did not end within 1000 ms")
    const after = rows
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(rows).toBe(after)
  })

  test("of a thrown string says that it is not an Error", async () => {
    const wrong = changed("wrong", () => ({ append: () => Promise.reject("boom") }))
    expect((await failureOf(wrong, "CREATE-01"))?.actual).toBe('a thrown string, not an Error: "boom"')
    expect((await failureOf(wrong, "CAS-04"))?.actual).toBe('a thrown string, not an Error: "boom"')
  })

  test("of an error from the storage has its stack", async () => {
    const wrong = changed("wrong", () => ({ append: () => Promise.reject(new RangeError("too far")) }))
    const failure = await failureOf(wrong, "CREATE-01")
    expect(failure?.actual).toBe("RangeError: too far")
    expect(failure?.message).toContain("run.test.ts")
  })

  test("of a missing method names the method", async () => {
    const wrong = changed("wrong", () => ({ append: undefined as unknown as SessionStorage["append"] }))
    expect(await failureOf(wrong, "OPEN-01")).toMatchObject({
      what: "storage.append",
      expected: "a method",
      actual: '"undefined"',
    })
    expect((await failureOf(wrong, "CREATE-01"))?.actual).toMatch(/^TypeError: .*append is not a function/)
  })

  test("of a method that throws instead of rejecting says so", async () => {
    const wrong = changed("wrong", (real) => ({
      append(session, lines, o) {
        if (lines.length === 0) throw new TypeError("no lines")
        return real.append(session, lines, o)
      },
    }))
    expect((await failureOf(wrong, "APPEND-08"))?.actual).toBe(
      "no promise, the method itself threw TypeError: no lines",
    )
  })
})

describe("a broken subject fails its cases one by one, and does not end the run", () => {
  const broken: readonly (readonly [string, Partial<Subject<MemoryLocation>>, string])[] = [
    ["makes no location", { makeLocation: () => Promise.reject(new Error("no room")) }, "Error: no room"],
    ["opens nothing", { open: () => undefined as unknown as SessionStorage }, "undefined"],
    ["never finishes opening", { open: () => new Promise<never>(() => {}) }, "it did not end within 1000 ms"],
    ["has no capabilities", { open: () => ({}) as SessionStorage }, "undefined"],
    [
      "does not close",
      {
        open: (location) => ({
          ...createMemoryStorage({ location }),
          [Symbol.asyncDispose]: () => new Promise(() => {}),
        }),
      },
      "it did not end within 1000 ms",
    ],
    ["cannot remove its location", { removeLocation: () => Promise.reject(new Error("busy")) }, "Error: busy"],
  ]
  for (const [name, changes, actual] of broken) {
    test(`one that ${name}`, async () => {
      const { results } = await run({ ...memory, name, ...changes }, { ...quick, only: ["CREATE-01", "CREATE-02"] })
      expect(results.map(({ failure }) => failure?.actual)).toEqual([actual, actual])
    })
  }
})

test("a location that is not empty fails every case with that reason", async () => {
  const location = createMemoryLocation()
  const { results } = await run({ ...memory, makeLocation: () => location }, { only: ["CREATE-01", "CREATE-03"] })
  expect(results.map(({ failure }) => [failure?.what, failure?.actual])).toEqual([
    [undefined, undefined],
    ["the location from the subject's makeLocation()", '"one with the session a"'],
  ])
})

test("everything that a case opened is closed and removed, also when it fails", async () => {
  const open = new Set<SessionStorage>()
  const locations = new Set<MemoryLocation>()
  const counting: Subject<MemoryLocation> = {
    name: "counting",
    makeLocation() {
      const location = createMemoryLocation()
      locations.add(location)
      return location
    },
    open(location) {
      const real = createMemoryStorage({ location })
      const storage: SessionStorage = {
        ...real,
        head: () => Promise.reject(new Error("no head")),
        async [Symbol.asyncDispose]() {
          open.delete(storage)
          await real[Symbol.asyncDispose]()
        },
      }
      open.add(storage)
      return storage
    },
    removeLocation(location) {
      locations.delete(location)
    },
  }
  await run(counting, { only: ["open", "create", "cas", "delete"] })
  expect({ open: open.size, locations: locations.size }).toEqual({ open: 0, locations: 0 })
})

describe("register", () => {
  const collected = (options: Parameters<typeof register>[2]) => {
    const tests = new Map<string, (...args: unknown[]) => Promise<void>>()
    register((name, fn) => tests.set(name, fn), memory, options)
    return tests
  }

  test("registers one test per case, with a function that takes no `done`", () => {
    const tests = collected({})
    expect(tests.size).toBe(cases.length)
    expect([...tests.keys()][0]).toMatch(/^memory OPEN-01 a storage has every method/)
    expect([...tests.values()].every((fn) => fn.length === 0)).toBe(true)
  })

  test("lets a case skip itself if the runner supports it, and reports it", async () => {
    const results: CaseResult[] = []
    const reasons: unknown[] = []
    const [fn] = collected({ only: ["TAILS-01"], onResult: (result) => results.push(result) }).values()
    await fn?.({ skip: (reason: unknown) => reasons.push(reason) })
    await fn?.()
    expect(reasons).toEqual(["needs the subject's tearTail()"])
    expect(results.map(({ status }) => status)).toEqual(["skipped", "skipped"])
  })

  test("registers cases that do not apply with `skip` if it knows the capabilities", () => {
    const skipped: string[] = []
    const { capabilities } = createMemoryStorage({ location: createMemoryLocation() })
    const tests = collected({ only: ["watch"], skip: { with: (name) => skipped.push(name), capabilities } })
    expect(skipped).toEqual([expect.stringContaining("WATCH-08")])
    expect([...tests.keys()].some((name) => name.includes("WATCH-08"))).toBe(false)
  })

  test("throws the whole failure message", async () => {
    const wrong = changed("wrong", () => ({ head: async () => undefined }))
    let fn: (() => Promise<void>) | undefined
    register((_, given) => (fn = given), wrong, { only: ["CREATE-01"] })
    await expect(fn?.()).rejects.toThrow(/CREATE-01 wrong[^]*clause[^]*expected[^]*actual/)
  })
})

async function failureOf(subject: Subject<MemoryLocation>, id: string): Promise<CaseResult["failure"]> {
  const { results } = await run(subject, { ...quick, only: [id] })
  return results[0]?.failure
}
