/** Schedules of calls of a session client whose requests meet other servers. */
import { answerNames, createNetwork } from "@sessions/conformance/network"
import { createSessionClient } from "@sessions/http/client"
import { vi } from "vitest"
import { createDice } from "../../../core/test/dice.ts"
import { newId, serve, textsOf } from "./server.ts"

const CALLS = 25
/** Milliseconds until the client gives up. */
const TIMEOUT = 1_000

export interface Found {
  /** The ways in which what is stored contradicts what the calls were told. */
  readonly wrong: readonly string[]
  readonly faults: number
}

/** Runs the calls of a seed. The clock must be a fake one, and must be moved on meanwhile. */
async function runCalls(seed: number): Promise<Found> {
  const dice = createDice(seed)
  const { handler, client: direct, sessions } = serve()
  let faults = 0
  const network = createNetwork(
    (url, init) => handler(new Request(url, init)),
    () => {
      if (!dice.chance(0.5)) return undefined
      faults++
      return dice.pick(answerNames)
    },
  )
  const client = createSessionClient({ url: "http://host", fetch: network.fetch, timeout: TIMEOUT })
  const { id } = await direct.create({ title: "title" })
  const wrong: string[] = []
  const created = new Map<string, boolean>()
  const prompts = new Map<string, boolean>()
  const deleted = new Map<string, boolean>()
  /** What the title may become by a request that is still on its way, or was done without an answer. */
  const titles = new Set<string>()
  const isDone = async (what: string, call: Promise<unknown>): Promise<boolean> => {
    try {
      await call
      return true
    } catch (error) {
      const { code } = error as { readonly code?: unknown }
      if (code !== "indeterminate") wrong.push(`${what}: ${String(code)}`)
      return false
    }
  }

  const calls: readonly ((n: number) => Promise<unknown>)[] = [
    async (n) => created.set(`made ${n}`, await isDone("create", client.create({ title: `made ${n}` }))),
    async (n) =>
      prompts.set(`text ${n}`, await isDone("prompt", client.prompt(id, { id: newId(), text: `text ${n}` }))),
    async (n) => {
      const before = (await direct.load(id)).info.title ?? ""
      const done = await isDone("rename", client.rename(id, `title ${n}`))
      if (!done) titles.add(`title ${n}`)
      const now = (await direct.load(id)).info.title ?? ""
      const isTrue = now === (done ? `title ${n}` : before) || titles.has(now)
      if (!isTrue) wrong.push(`rename to title ${n} was ${done ? "done" : "open"}, and it is ${now}`)
    },
    async () => {
      const one = await direct.create()
      deleted.set(one.id, await isDone("delete", client.delete(one.id)))
    },
    async () => {
      const before = await textsOf(direct, id)
      const texts = await textsOf(client, id).catch(() => undefined)
      const after = await textsOf(direct, id)
      if (texts === undefined) return
      const isTrue = texts.length >= before.length && texts.every((text, at) => text === after[at])
      if (!isTrue) wrong.push(`load: ${texts.join()} in place of ${after.join()}`)
    },
  ]

  for (let n = 0; n < CALLS; n++) {
    await dice.pick(calls)(n)
    if (dice.chance(0.3)) await network.arrive()
  }
  await network.arrive()
  const ids = new Set<string>()
  const made: string[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await direct.list({ limit: 200, ...(cursor !== undefined && { cursor }) })
    for (const info of page.sessions) {
      ids.add(info.id)
      made.push(info.title ?? "")
    }
    cursor = page.next
    if (cursor === undefined) break
  }
  // Until its turns have ended. What waits then is run by the next server.
  await handler.close()
  const next = serve({ storage: sessions.storage })
  await next.handler.runQueued(id, "somebody")
  const texts = await textsOf(next.client, id)
  const check = (what: string, done: boolean, count: number): void => {
    if (count > 1 || (done && count === 0))
      wrong.push(`${what} was ${done ? "done" : "open"}, and is there ${count} times`)
  }
  for (const [title, done] of created) check(title, done, made.filter((one) => one === title).length)
  for (const [text, done] of prompts) check(text, done, texts.filter((one) => one === text).length)
  for (const [one, done] of deleted) if (done && ids.has(one)) wrong.push(`${one} was deleted, and is there`)
  return { wrong: wrong.map((text) => `seed ${seed}, ${text}`), faults }
}

/** Runs the schedules of the seeds at once, with the time passing as it must. */
export async function runSchedules(seeds: readonly number[]): Promise<Found> {
  let open = true
  const all = Promise.all(seeds.map(runCalls)).finally(() => (open = false))
  while (open) await vi.advanceTimersByTimeAsync(TIMEOUT)
  const found = await all
  return { wrong: found.flatMap(({ wrong }) => wrong), faults: found.reduce((sum, { faults }) => sum + faults, 0) }
}
