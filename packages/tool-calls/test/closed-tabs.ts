/** Tabs on one IndexedDB that go on with one turn with a lease, each closed at some step; the page is the bank, which knows what was charged. */
import { createSessions } from "@sessions/core"
import { createIndexedDbStorage } from "@sessions/idb"
import { createDice } from "../../core/test/dice.ts"
import { leftWrong, toldWrongly } from "./crash/judge.ts"
import { type Charge, receiptOf, SESSION } from "./crash/plan.ts"
import type { Said } from "./tab.worker.ts"

/** Those that a tab asks the page of in a turn. */
const STEPS = 22
const CHARGES = 3

interface Round {
  /** Nothing if nothing is. */
  readonly wrong: readonly string[]
  /** How many tabs were. */
  readonly closed: number
}

/** A round: so many tabs at once, each closed at some step, then as many as come next, and at last one that stays. */
export async function closeTabs(seed: number, counts: readonly number[]): Promise<Round> {
  const dice = createDice(seed)
  const database = `closed-tabs-${crypto.randomUUID()}`
  const charges: Charge[] = []
  const wrong: string[] = []
  const look = async (judge: typeof toldWrongly): Promise<void> => {
    const requests = [...charges]
    const sessions = createSessions({ storage: createIndexedDbStorage({ database }) })
    wrong.push(...(await judge(await sessions.open(SESSION), requests)))
    await sessions.close()
  }
  const first = createSessions({ storage: createIndexedDbStorage({ database }) })
  await first.create({ id: SESSION })
  await first.close()
  let closed = 0
  for (const count of counts) {
    const ended = await Promise.all(
      Array.from({ length: count }, () => runTab(database, charges, 1 + dice.below(STEPS))),
    )
    for (const end of ended) {
      if (end === "closed") closed++
      else if (end !== true) wrong.push(end)
    }
    await look(toldWrongly)
  }
  const end = await runTab(database, charges, Number.POSITIVE_INFINITY)
  if (end !== true) wrong.push(end)
  await look((session) => leftWrong(session, charges, CHARGES))
  return { wrong, closed }
}

/** Runs a tab until it has ended, or is closed in place of its n-th answer. */
function runTab(database: string, charges: Charge[], closeAt: number): Promise<true | string> {
  const tab = new Worker(new URL("tab.worker.ts", import.meta.url), { type: "module" })
  let steps = 0
  return new Promise((resolve, reject) => {
    const close = (how: true | string): void => {
      tab.terminate()
      resolve(how)
    }
    tab.addEventListener("error", ({ message }) => reject(new Error(message)))
    tab.addEventListener("message", ({ data }: MessageEvent<Said>) => {
      if ("ended" in data) return close(data.ended)
      let answer: unknown
      if ("charge" in data) {
        charges.push(data.charge)
        answer = receiptOf(data.charge)
      }
      if ("find" in data) {
        const found = charges.find(({ key }) => key === data.find)
        answer = found && receiptOf(found)
      }
      if (++steps >= closeAt) return close("closed")
      // Nothing is transferred; a worker has no origin.
      return tab.postMessage({ answer }, [])
    })
    tab.postMessage({ database }, [])
  })
}
