/** Schedules of calls of a storage client whose requests meet other servers. */
import { type Head, type SessionStorage, toUtf8 } from "@sessions/core/storage"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { createDice } from "../../core/test/dice.ts"
import { createHttpStorage } from "../src/client.ts"
import type { Handler } from "../src/server.ts"
import { behindOther, OTHER_ANSWERS } from "./other-server.ts"
import { codeOf, handlerOf, linesOf, URL_OF_STORAGE } from "./wire.ts"

const STEPS = 25
const NAMES = Object.keys(OTHER_ANSWERS)

type Outcome = "done" | "refused" | "unknown"

/** Runs the calls of a seed on two servers over one storage; the ways in which what is stored contradicts what the calls were told. */
export async function runSchedule(seed: number): Promise<string[]> {
  const dice = createDice(seed)
  const location = createMemoryLocation()
  const direct = createMemoryStorage({ location })
  const handlers = [0, 1].map(() => handlerOf(createMemoryStorage({ location })))
  const fetch = behindOther(
    // Repeated changes of a document are known for certain by the server that made them alone: `docs/http.md`, "What remains".
    (url, init) => (handlers[url.includes("/docs/") ? 0 : dice.below(2)] as Handler)(new Request(url, init)),
    () => (dice.next() < 0.5 ? dice.pick(NAMES) : undefined),
  )
  const capabilities = { ...direct.capabilities, writers: "any", replace: false } as const
  const compared = { url: URL_OF_STORAGE, capabilities, timeout: 20 }
  // The comparison of the capabilities meets no fault; it is tried apart.
  const storage = createHttpStorage({
    ...compared,
    fetch: (url, init) =>
      url.endsWith("/capabilities") ? (handlers[0] as Handler)(new Request(url, init)) : fetch(url, init),
  })
  const wrong: string[] = []
  const lines = new Map<string, Outcome>()
  const blobs = new Map<string, Outcome>()
  let document: readonly (string | undefined)[] = [undefined]
  let expectAt: Head | 0 | undefined = 0

  for (let n = 0; n < STEPS; n++) {
    const act = dice.below(5)
    if (act <= 1) {
      expectAt ??= await headOf(direct)
      const line = `line ${n}`
      const expect: Head | 0 = expectAt
      const code = await codeOf(storage.append("a", [line], { expect }).then((head) => void (expectAt = head)))
      lines.set(line, outcomeOf(code))
      if (code !== "done") expectAt = undefined
    } else if (act === 2) {
      const stored = await direct.docs.get("d")
      const code = await codeOf(storage.docs.put("d", `text ${n}`, { expect: stored?.version ?? null }))
      document = possible([stored?.text], `text ${n}`, outcomeOf(code))
      const now = (await direct.docs.get("d"))?.text
      if (!document.includes(now))
        wrong.push(`seed ${seed}, step ${n}: put ${String(code)}, and the document is ${now}`)
    } else if (act === 3) {
      const text = `blob ${n}`
      blobs.set(text, outcomeOf(await codeOf(storage.blobs.put(toUtf8(text)))))
    } else {
      const stored = await linesOf(direct)
      const read = await linesOf(storage).catch(() => stored)
      if (read.join() !== stored.join()) wrong.push(`seed ${seed}, step ${n}: read ${read.join()}`)
    }
  }
  const stored = await linesOf(direct)
  for (const [line, outcome] of lines) {
    const count = stored.filter((one) => one === line).length
    if (count > 1 || (outcome === "done" && count === 0) || (outcome === "refused" && count > 0))
      wrong.push(`seed ${seed}: ${line} was ${outcome}, and is there ${count} times`)
  }
  const kept: string[] = []
  for await (const { hash } of direct.blobs.list()) kept.push(new TextDecoder().decode(await direct.blobs.get(hash)))
  for (const [text, outcome] of blobs) {
    if (outcome !== "unknown" && kept.includes(text) !== (outcome === "done"))
      wrong.push(`seed ${seed}: ${text} was ${outcome}`)
  }
  return wrong
}

async function headOf(storage: SessionStorage): Promise<Head | 0> {
  const head = await storage.head("a")
  return head === undefined ? 0 : { next: head.next, log: head.log }
}

function outcomeOf(code: unknown): Outcome {
  if (code === "done") return "done"
  return code === "indeterminate" ? "unknown" : "refused"
}

function possible(
  before: readonly (string | undefined)[],
  to: string,
  outcome: Outcome,
): readonly (string | undefined)[] {
  if (outcome === "done") return [to]
  return outcome === "refused" ? before : [...before, to]
}
