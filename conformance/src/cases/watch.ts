import type { Head, SessionStorage } from "@sessions/core/storage"
import { check, equal, Mismatch, rejects } from "../helpers/assert.ts"
import type { Case } from "../case/case.ts"
import { casesOf } from "../case/case.ts"
import { showError } from "../helpers/show.ts"
import { create, expectLog, line, linesTo } from "../helpers/lines.ts"
import { needs } from "../case/needs.ts"

export const watch: readonly Case[] = casesOf("watch", [
  {
    n: 1,
    clause: "watch.sees",
    title: "a watcher hears of an append, its own storage's and another writer's",
    needs: needs.watch,
    async run({ writers }) {
      const [a, b] = await writers()
      let head = await create(a, "a")
      const heads = watchOf(a)
      for (const writer of [a, b, a, b]) {
        const news = hear(heads, head.next + 1)
        head = await writer.append("a", [line(head.next)], { expect: head })
        equal(await news, head, "the head that the watcher heard of")
      }
      await heads.return?.()
    },
  },
  {
    n: 2,
    clause: "watch.sees",
    title: "a watcher that was slow hears of the last append, and never of one that is not there",
    needs: needs.watch,
    async run({ storage }) {
      let head = await create(storage, "a")
      const heads = watchOf(storage)
      let there = head.next
      const news = hear(heads, 3, () => there)
      for (let n = 2; n < 40; n++) {
        there = n + 1
        head = await storage.append("a", [line(n)], { expect: head })
      }
      await news
      equal(await hear(heads, 40), head, "the last head that the watcher heard of")
      await heads.return?.()
    },
  },
  {
    n: 3,
    clause: "watch.sees",
    title: "several watchers of one session all hear, and one that leaves disturbs no other",
    needs: needs.watch,
    async run({ storage }) {
      const head = await create(storage, "a")
      const [first, second, third] = [watchOf(storage), watchOf(storage), watchOf(storage)]
      const news = [first, second, third].map((heads) => hear(heads, 3))
      const next = await storage.append("a", [line(2)], { expect: head })
      await Promise.all(news)
      await second.return?.()
      const more = [first, third].map((heads) => hear(heads, 4))
      await storage.append("a", [line(3)], { expect: next })
      await Promise.all(more)
      await Promise.all([first.return?.(), third.return?.()])
      await expectLog(storage, "a", linesTo(4), "after it")
    },
  },
  {
    n: 4,
    clause: "watch.ends",
    title: "a watch ends with its signal, whether it fires before or while the watcher waits",
    needs: needs.watch,
    async run({ storage }) {
      await create(storage, "a")
      await expectEnd(watchOf(storage, AbortSignal.abort()), "a watch whose signal had fired")
      const controller = new AbortController()
      const ending = expectEnd(watchOf(storage, controller.signal), "a watch whose signal fires")
      await turn()
      controller.abort()
      await ending
    },
  },
  {
    n: 5,
    clause: "watch.ends",
    title: "a watch ends when its session is deleted, by whichever writer",
    needs: needs.watch,
    async run({ writers }) {
      const [a, b] = await writers()
      for (const writer of [a, b]) {
        await create(a, "a")
        const ending = expectEnd(watchOf(a), "a watch of a session that is deleted")
        await turn()
        await writer.delete("a")
        await ending
      }
    },
  },
  {
    n: 6,
    clause: "watch.ends",
    title: "a watch ends when its storage is disposed of",
    needs: needs.watch,
    async run({ storage, close }) {
      await create(storage, "a")
      const ending = expectEnd(watchOf(storage), "a watch of a storage that is disposed of")
      await turn()
      await close()
      await ending
    },
  },
  {
    n: 7,
    clause: "watch.ends",
    title: "a watcher that returns while it waits ends at once",
    needs: needs.watch,
    async run({ storage }) {
      await create(storage, "a")
      const heads = watchOf(storage)
      const ending = expectEnd(heads, "the watch")
      await turn()
      await heads.return?.()
      await ending
    },
  },
  {
    n: 8,
    clause: "unsupported",
    title: "a storage that cannot watch has no watch, or refuses it with `unsupported`",
    needs: needs.noWatch,
    async run({ storage }) {
      await create(storage, "a")
      if (storage.watch === undefined) return
      await rejects("unsupported", "watch()", async () => watchOf(storage).next())
    },
  },
])

function watchOf(storage: SessionStorage, signal?: AbortSignal): AsyncIterator<Head> {
  const heads = storage.watch?.("a", signal === undefined ? {} : { signal })
  check(heads !== undefined, "storage.watch()", "an iterable", heads)
  return heads[Symbol.asyncIterator]()
}

/** The first head that has so many lines; those before it must grow, too, and none may be past what is there. */
function hear(heads: AsyncIterator<Head>, next: number, there: () => number = () => next): Promise<Head> {
  return awaitedLater(async () => {
    let last = 0
    for (;;) {
      const result = await heads.next()
      if (result.done === true) throw new Mismatch("the watch", `a head with next ${next}`, "its end")
      check(result.value.next >= last, "the next of a head that follows", `at least ${last}`, result.value.next)
      last = result.value.next
      const most = there()
      check(last <= most, "the next of a head that the watcher heard of", `at most the ${most} that are there`, last)
      if (last >= next) return { next: last, log: result.value.log }
    }
  })
}

/** Takes what still comes, and demands an end without an error. */
function expectEnd(heads: AsyncIterator<Head>, what: string): Promise<void> {
  return awaitedLater(async () => {
    try {
      while ((await heads.next()).done !== true);
    } catch (error) {
      throw new Mismatch(what, "an end without an error", showError(error))
    }
  })
}

/** A case that fails in between leaves this promise alone, and its rejection must not become the process's. */
function awaitedLater<T>(work: () => Promise<T>): Promise<T> {
  const promise = work()
  promise.catch(() => undefined)
  return promise
}

/** Lets a watch that was just asked come to wait. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5))
}
