/**
 * `pnpm test:merge [--adapter memory|files|sqlite] [--rounds N] [--seed S] [--planted]`: random histories of sessions in 2 to 6 storages
 * that are merged in a ring or a star, with the laws of `docs/merge.md`. Prints the shortest history of each kind that breaks one. A
 * violation is repeated by the seed of its block. With `--planted` two merges that look plausible and are wrong must be found.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import type { SessionStorage } from "@sessions/core/storage"
import { createFileStorage } from "@sessions/fs"
import { createMemoryStorage } from "../../../packages/memory/src/index.ts"
import { createSqliteStorage } from "@sessions/sqlite"
import * as fc from "fast-check"
import {
  brokenRealLaws,
  eachStays,
  plainUnion,
  realHistory,
  type RealMerge,
} from "../../../packages/core/test/merge-histories.ts"

const ADAPTERS: Readonly<Record<string, (path: string) => SessionStorage>> = {
  memory: () => createMemoryStorage(),
  files: (root) => createFileStorage({ root }),
  sqlite: (path) => createSqliteStorage({ path, durability: "os" }),
}

/** The wrong merges, and how many histories may pass before one of them is found. */
const PLANTED: Readonly<Record<string, RealMerge>> = {
  "a plain union": plainUnion,
  "a merge after which each side stays on its own path": eachStays,
}
const PLANTED_ROUNDS = 500

/** Histories of one seed. */
const BLOCK = 500

const { values } = parseArgs({
  options: {
    adapter: { type: "string", default: "memory" },
    rounds: { type: "string", default: "1000" },
    seed: { type: "string" },
    planted: { type: "boolean", default: false },
  },
})
const rounds = Number(values.rounds)
const first = Number(values.seed ?? Date.now() % 2 ** 31)
const open = ADAPTERS[values.adapter]
if (open === undefined || !(Number.isSafeInteger(rounds) && rounds > 0) || !Number.isSafeInteger(first)) {
  console.error("--adapter takes memory, files or sqlite, --rounds a number above 0, --seed a whole number.")
  process.exit(2)
}
process.exitCode = values.planted ? await findPlanted(open) : await runAll(open)

async function runAll(open: (path: string) => SessionStorage): Promise<number> {
  let violations = 0
  let done = 0
  console.log(`seed ${first}`)
  for (let seed = first; done < rounds; seed++) {
    const runs = Math.min(BLOCK, rounds - done)
    const found = await check(open, undefined, seed, runs)
    done += runs
    if (found !== undefined) {
      violations++
      console.log(`--seed ${seed} --rounds ${runs}: ${found}`)
    }
  }
  console.log(`histories ${done} on ${values.adapter}, violations ${violations}`)
  return violations === 0 ? 0 : 1
}

async function findPlanted(open: (path: string) => SessionStorage): Promise<number> {
  let missed = 0
  for (const [name, merge] of Object.entries(PLANTED)) {
    const found = await check(open, merge, 1, PLANTED_ROUNDS)
    if (found === undefined) missed++
    console.log(found === undefined ? `not found: ${name}` : `found: ${name}: ${found.slice(0, 200)}`)
  }
  console.log(`planted ${Object.keys(PLANTED).length}, missed ${missed}`)
  return missed === 0 ? 0 : 1
}

/** The shortest history that breaks a law, with the laws; undefined if none does. */
async function check(
  open: (path: string) => SessionStorage,
  merge: RealMerge | undefined,
  seed: number,
  numRuns: number,
): Promise<string | undefined> {
  const property = fc.asyncProperty(realHistory, async (history) => {
    const folder = mkdtempSync(join(tmpdir(), "sessions-merge-"))
    let made = 0
    const storage = (): SessionStorage => open(join(folder, String(made++)))
    try {
      const broken = await brokenRealLaws(history, { storage, ...(merge && { merge }) })
      if (broken.length > 0) throw new Error(broken.join("; "))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
  const { failed, counterexample, errorInstance } = await fc.check(property, { seed, numRuns })
  if (!failed) return undefined
  const error = errorInstance instanceof Error ? (errorInstance.stack ?? errorInstance.message) : String(errorInstance)
  return `${error.split("\n").slice(0, 4).join("\n")}\n${JSON.stringify(counterexample?.[0])}`
}
