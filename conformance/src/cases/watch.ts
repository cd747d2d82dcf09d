/** Cases of `watch`. */
import type { Head, SessionStorage } from "@sessions/core/storage"
import { check, equal, Mismatch, rejects } from "../helpers/assert.ts"
import { type Case, casesOf } from "../case/case.ts"
import { showError } from "../helpers/show.ts"
import { create, expectLog, line, linesTo } from "../helpers/lines.ts"
import { needs } from "../case/needs.ts"

export const watch: readonly Case[] = casesOf("watch", [
  {
    n: 1,
    clause: "watch.sees",
    title: "a watcher gets the heads of its own storage's appends and of another writer's",
    needs: needs.watch,
    async run({ writers }) {
      const [a, b] = await writers()
      let head = await create(a, "a")
      const heads = watchOf(a)
      for (const writer of [a, b, a, b]) {
        const news = nextHead(heads, head.next + 1)
        head = await writer.append("a", [line(head.next)], { expect: head })
        equal(await news, head, "the head from the watch")
      }
      await heads.return?.()
    },
  },
  {
    n: 2,
    clause: "watch.sees",
    title: "a slow watcher gets the last head, and never a head beyond the log",
    needs: needs.watch,
    async run({ storage }) {
      let head = await create(storage, "a")
      const heads = watchOf(storage)
      let end = head.next
      const news = nextHead(heads, 3, () => end)
      for (let n = 2; n < 40; n++) {
        end = n + 1
        head = await storage.append("a", [line(n)], { expect: head })
      }
      await news
      equal(await nextHead(heads, 40), head, "the last head from the watch")
      await heads.return?.()
    },
  },
  {
    n: 3,
    clause: "watch.sees",
    title: "all watchers of one session get its heads, also after one of them stops",
    needs: needs.watch,
    async run({ storage }) {
      const head = await create(storage, "a")
      const [first, second, third] = [watchOf(storage), watchOf(storage), watchOf(storage)]
      const news = [first, second, third].map((heads) => nextHead(heads, 3))
      const next = await storage.append("a", [line(2)], { expect: head })
      await Promise.all(news)
      await second.return?.()
      const more = [first, third].map((heads) => nextHead(heads, 4))
      await storage.append("a", [line(3)], { expect: next })
      await Promise.all(more)
      await Promise.all([first.return?.(), third.return?.()])
      await expectLog(storage, "a", linesTo(4), "after the appends")
    },
  },
  {
    n: 4,
    clause: "watch.ends",
    title: "a watch ends with its signal, whether it aborts before the watch or during it",
    needs: needs.watch,
    async run({ storage }) {
      await create(storage, "a")
      await expectEnd(watchOf(storage, AbortSignal.abort()), "a watch with an aborted signal")
      const controller = new AbortController()
      const ending = expectEnd(watchOf(storage, controller.signal), "a watch whose signal is aborted")
      await tick()
      controller.abort()
      await ending
    },
  },
  {
    n: 5,
    clause: "watch.ends",
    title: "a watch ends when any writer deletes its session",
    needs: needs.watch,
    async run({ writers }) {
      const [a, b] = await writers()
      for (const writer of [a, b]) {
        await create(a, "a")
        const ending = expectEnd(watchOf(a), "a watch of a deleted session")
        await tick()
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
      const ending = expectEnd(watchOf(storage), "a watch of a disposed storage")
      await tick()
      await close()
      await ending
    },
  },
  {
    n: 7,
    clause: "watch.ends",
    title: "retick() ends a waiting watcher at once",
    needs: needs.watch,
    async run({ storage }) {
      await create(storage, "a")
      const heads = watchOf(storage)
      const ending = expectEnd(heads, "the watch")
      await tick()
      await heads.return?.()
      await ending
    },
  },
  {
    n: 8,
    clause: "unsupported",
    title: "without the capability, watch is missing or refused with `unsupported`",
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

/** The first head whose `next` is at least the given one. Heads must not go back, and none may be beyond the end of the log. */
function nextHead(heads: AsyncIterator<Head>, next: number, end: () => number = () => next): Promise<Head> {
  return handled(async () => {
    let last = 0
    for (;;) {
      const result = await heads.next()
      if (result.done === true) throw new Mismatch("the watch", `a head with next ${next}`, "its end")
      check(result.value.next >= last, "the next of a later head", `at least ${last}`, result.value.next)
      last = result.value.next
      const most = end()
      check(last <= most, "the next of a head from the watch", `at most ${most}, the length of the log`, last)
      if (last >= next) return { next: last, log: result.value.log }
    }
  })
}

/** Reads the watch to its end, which must come without an error. */
function expectEnd(heads: AsyncIterator<Head>, what: string): Promise<void> {
  return handled(async () => {
    try {
      while ((await heads.next()).done !== true);
    } catch (error) {
      throw new Mismatch(what, "an end without an error", showError(error))
    }
  })
}

/** If the case fails before it awaits the promise, its rejection must not count as unhandled. */
function handled<T>(work: () => Promise<T>): Promise<T> {
  const promise = work()
  promise.catch(() => undefined)
  return promise
}

/** Gives a watch the time to start waiting. */
function tick(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5))
}
