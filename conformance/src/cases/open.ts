/** Cases of opening and closing: methods, capabilities, persistence and cleanup. */
import type { Capabilities, SessionStorage } from "@sessions/core/storage"
import { check, equal, equalLines, rejects } from "../helpers/assert.ts"
import { type Case, casesOf } from "../case/case.ts"
import { openHandles } from "../helpers/open-handles.ts"
import { callsWith } from "../helpers/session-ids.ts"
import { collect, create, expectGone, line, linesTo, readLines } from "../helpers/lines.ts"
import { needs } from "../case/needs.ts"

export const open: readonly Case[] = casesOf("open", [
  {
    n: 1,
    clause: "open.shape",
    title: "a storage has every method, and the optional ones that its capabilities name",
    async run({ storage, capabilities }) {
      for (const method of methodsOf(capabilities)) {
        check(typeof storage[method] === "function", `storage.${method}`, "a method", typeof storage[method])
      }
      for (const store of ["docs", "blobs"] as const) {
        check(typeof storage[store] === "object", `storage.${store}`, "a store", typeof storage[store])
      }
      for (const method of ["get", "put", "delete", "list"] as const) {
        check(
          typeof storage.docs[method] === "function",
          `storage.docs.${method}`,
          "a method",
          typeof storage.docs[method],
        )
        check(
          typeof storage.blobs[method] === "function",
          `storage.blobs.${method}`,
          "a method",
          typeof storage.blobs[method],
        )
      }
      check(typeof storage.blobs.has === "function", "storage.blobs.has", "a method", typeof storage.blobs.has)
      check(typeof storage[Symbol.asyncDispose] === "function", "storage[Symbol.asyncDispose]", "a method", "none")
      const named = typeof storage.description === "string" && storage.description !== ""
      check(named, "storage.description", "a short name and location, for error messages", storage.description)
    },
  },
  {
    n: 2,
    clause: "open.shape",
    title: "capabilities have known values",
    async run({ capabilities }) {
      for (const [name, values] of Object.entries(allowedValues)) {
        const value: unknown = capabilities[name as keyof typeof allowedValues]
        check(
          (values as readonly unknown[]).includes(value),
          `capabilities.${name}`,
          values.map(String).join(" or "),
          value,
        )
      }
      for (const name of ["maxLineBytes", "maxBatchBytes", "maxSessionBytes"] as const) {
        const value = capabilities[name]
        check(typeof value === "number" && value > 0, `capabilities.${name}`, "a number of bytes above 0", value)
      }
    },
  },
  {
    n: 3,
    clause: "open.shape",
    title: "an empty location has no sessions, documents or blobs",
    async run({ storage }) {
      await expectGone(storage, "missing", "of a session that never existed")
      equal(await collect(storage.list()), [], "list()")
      equal(await collect(storage.docs.list()), [], "docs.list()")
      equal(await collect(storage.blobs.list()), [], "blobs.list()")
    },
  },
  {
    n: 4,
    clause: "open.keeps",
    title: "the next storage on a location finds its lines, documents and blobs, and can append",
    needs: needs.reopening,
    async run({ storage, reopen }) {
      const head = await create(storage, "kept", linesTo(3))
      const version = await storage.docs.put("sessions/kept/x", '{"a":1}', { expect: null })
      const hash = await storage.blobs.put(new Uint8Array([1, 2, 3]))
      const next = await reopen()
      equalLines(await readLines(next, "kept"), linesTo(3), "the log after reopening")
      equal((await next.docs.get("sessions/kept/x"))?.version, version, "the document's version after reopening")
      check(await next.blobs.has(hash), "blobs.has() after reopening", "true", false)
      await next.append("kept", [line(3)], { expect: head })
      equalLines(await readLines(next, "kept"), linesTo(4), "the log after an append with the old head")
    },
  },
  {
    n: 5,
    clause: "open.keeps",
    title: "a disposal loses no acknowledged append",
    needs: needs.reopening,
    async run({ storage, reopen }) {
      const sessions = linesTo(8).map((_, index) => `s${index}`)
      const appends = sessions.map((session) =>
        create(storage, session).then(
          () => session,
          () => undefined,
        ),
      )
      const next = await reopen()
      for (const session of await Promise.all(appends)) {
        if (session !== undefined)
          equalLines(await readLines(next, session), linesTo(2), `${session}, acknowledged during the disposal`)
      }
    },
  },
  {
    n: 6,
    clause: "open.closed",
    title: "after its disposal a storage refuses every call with `closed`",
    async run({ storage, close }) {
      await create(storage, "a")
      const calls = [...callsWith(storage, "a"), ...otherCalls(storage)]
      await close()
      for (const [name, call] of calls) await rejects("closed", `${name} after the disposal`, call)
    },
  },
  {
    n: 7,
    clause: "open.closed",
    title: "disposing twice, or before the first use, is harmless",
    async run({ storage, openElsewhere }) {
      await storage[Symbol.asyncDispose]()
      await storage[Symbol.asyncDispose]()
      const used = await openElsewhere()
      await create(used, "a")
      await Promise.all([used[Symbol.asyncDispose](), used[Symbol.asyncDispose]()])
    },
  },
  {
    n: 8,
    clause: "open.apart",
    title: "two locations share nothing",
    async run({ storage, openElsewhere }) {
      const other = await openElsewhere()
      const head = await create(storage, "a")
      await storage.docs.put("x", "{}", { expect: null })
      const hash = await storage.blobs.put(new Uint8Array([7]))
      await expectGone(other, "a", "on another location")
      equal(await other.docs.get("x"), undefined, "docs.get() on another location")
      equal(await other.blobs.has(hash), false, "blobs.has() on another location")
      await create(other, "a")
      await rejects("conflict", "an append with the head of the other location", () =>
        other.append("a", [line(2)], { expect: head }),
      )
    },
  },
  {
    n: 9,
    clause: "open.released",
    title: "disposed storages leave no file, timer or connection open",
    async run({ openElsewhere, close, capabilities, sizes, skip }) {
      const useOne = async (): Promise<void> => {
        await useAll(await openElsewhere(), capabilities)
        await close()
      }
      // The first use may load or connect things that all storages share.
      await useOne()
      const before = openHandles() ?? skip("this runtime does not report open handles")
      for (let n = 0; n < STORAGES; n++) await useOne()
      const left = async (): Promise<string> =>
        [...(openHandles() ?? [])]
          .filter(([kind, count]) => count - (before.get(kind) ?? 0) >= STORAGES)
          .map(([kind, count]) => `${count - (before.get(kind) ?? 0)} of ${kind}`)
          .join(", ")
      const end = performance.now() + Math.min(sizes.waitMs, RELEASED_MS)
      while ((await left()) !== "" && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 10))
      equal(await left(), "", `what ${STORAGES} storages left open`)
    },
  },
])

/** More handles than a program opens or closes by itself during the case. */
const STORAGES = 8
/** The system closes a socket asynchronously after a disposal, on a busy machine too in less than this. */
const RELEASED_MS = 10_000

/** Ignores the results of the calls; other cases test them. */
async function useAll(storage: SessionStorage, capabilities: Capabilities): Promise<void> {
  const calls = [
    () => create(storage, "a"),
    () => storage.head("a"),
    () => readLines(storage, "a"),
    () => collect(storage.list()),
    () => storage.docs.put("x", "{}", { expect: null }),
    () => storage.blobs.put(new Uint8Array([7])),
    () => storage.delete("a"),
    () => create(storage, "a"),
    async () => {
      // A reader that is neither read to its end nor returned from, and a pending watcher.
      await storage.read("a")[Symbol.asyncIterator]().next()
      const heads = capabilities.watch ? storage.watch?.("a")[Symbol.asyncIterator]() : undefined
      heads?.next().catch(() => undefined)
    },
  ]
  for (const call of calls) await call().catch(() => undefined)
}

const allowedValues = {
  durability: ["none", "os", "disk", "replicated"],
  atomicBatch: ["all", "prefix"],
  writers: ["instance", "host", "any"],
  listOrder: ["updatedAt", "id"],
  sync: [true, false],
  watch: [true, false],
  replace: [true, false],
} as const

function methodsOf(
  capabilities: Capabilities,
): ("append" | "head" | "read" | "list" | "delete" | "sync" | "watch" | "replace")[] {
  const optional = (["sync", "watch", "replace"] as const).filter((name) => capabilities[name])
  return ["append", "head", "read", "list", "delete", ...optional]
}

function otherCalls(storage: SessionStorage): readonly (readonly [string, () => Promise<unknown>])[] {
  const hash = "0".repeat(64)
  return [
    ["list()", () => collect(storage.list())],
    ["docs.get()", () => storage.docs.get("x")],
    ["docs.put()", () => storage.docs.put("x", "{}", { expect: null })],
    ["docs.delete()", () => storage.docs.delete("x", { expect: "x" })],
    ["docs.list()", () => collect(storage.docs.list())],
    ["blobs.put()", () => storage.blobs.put(new Uint8Array([1]))],
    ["blobs.get()", () => storage.blobs.get(hash)],
    ["blobs.has()", () => storage.blobs.has(hash)],
    ["blobs.delete()", () => storage.blobs.delete(hash)],
    ["blobs.list()", () => collect(storage.blobs.list())],
  ]
}
