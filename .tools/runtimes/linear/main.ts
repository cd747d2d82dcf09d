/**
 * `pnpm test:linear --adapter NAME [--seconds N | --rounds N] [--seed S] [--planted]`: clients call one session at once, are killed and
 * see faults; a checker decides whether what they saw is linearizable. With `--planted` the storage of each client has a defect, and the
 * run fails if one of the defects is not found. Each round has the seed after the one before it.
 */
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { DEFECTS, RESET_DEFECTS } from "./client/planted.ts"
import { type Counts, type Round, type RoundOptions, runRound } from "./round.ts"
import { openFolderStore } from "./stores/folder.ts"
import type { Store } from "./stores/store.ts"

/** How each storage is run. A round takes some seconds on each. */
const ADAPTERS: Readonly<
  Record<string, { readonly open: () => Promise<Store> } & Pick<RoundOptions, "clients" | "operations">>
> = {
  files: {
    open: async () => openFolderStore(new URL("client/files.ts", import.meta.url), "prefix"),
    clients: 4,
    operations: 250,
  },
  sqlite: {
    open: async () => openFolderStore(new URL("client/sqlite.ts", import.meta.url), "all"),
    clients: 4,
    operations: 250,
  },
  postgres: { open: async () => (await import("./stores/postgres.ts")).openStore(), clients: 4, operations: 150 },
  memory: { open: async () => (await import("./stores/memory.ts")).openStore(), clients: 4, operations: 250 },
  idb: { open: async () => (await import("./stores/idb.ts")).openStore(), clients: 3, operations: 80 },
  s3: { open: async () => (await import("./stores/s3.ts")).openStore(), clients: 3, operations: 50 },
}

const { values } = parseArgs({
  options: {
    adapter: { type: "string", default: "files" },
    seconds: { type: "string" },
    rounds: { type: "string" },
    seed: { type: "string" },
    planted: { type: "boolean", default: false },
  },
})
const adapter = ADAPTERS[values.adapter]
const first = Number(values.seed ?? Date.now() % 2 ** 31)
const seconds = Number(values.seconds ?? Number.POSITIVE_INFINITY)
const rounds = Number(values.rounds ?? (values.seconds === undefined ? 1 : Number.POSITIVE_INFINITY))
if (adapter === undefined || !Number.isSafeInteger(first) || !(seconds > 0) || !(rounds >= 1)) {
  console.error(
    `--adapter is one of ${Object.keys(ADAPTERS).join(", ")}; --seconds and --rounds take a number, --seed a whole number.`,
  )
  process.exit(2)
}

/** Violations of a round that are shown: later ones usually follow from the first. */
const SHOWN = 5
/** Rounds in which a planted defect must be found. */
const PLANTED_ROUNDS = 10

console.log(`seed ${first}`)
const store = await adapter.open()
const failed = values.planted ? await findPlanted(store) : await runRounds(store)
await store.close()
process.exit(failed ? 1 : 0)

async function runRounds(store: Store): Promise<boolean> {
  const end = performance.now() + seconds * 1_000
  const sum: Record<string, number> = {}
  let violations = 0
  let done = 0
  for (; done < rounds && performance.now() < end; done++) {
    const round = await runRound(store, optionsFor(first + done))
    add(sum, round.counts)
    violations += round.violations.length
    if (round.violations.length > 0) show(first + done, round)
  }
  const counted = Object.entries(sum).map(([name, count]) => `${name} ${count}`)
  console.log(`${values.adapter}: rounds ${done}, ${counted.join(", ")}, violations ${violations}`)
  if (sum["acknowledged"] === 0) console.log("No append was acknowledged, so nothing was checked.")
  return violations > 0 || sum["acknowledged"] === 0
}

async function findPlanted(store: Store): Promise<boolean> {
  let missed = 0
  for (const defect of DEFECTS) {
    const began = performance.now()
    let found: string | undefined
    let round = 0
    while (found === undefined && round < PLANTED_ROUNDS) {
      const { violations } = await runRound(store, {
        ...optionsFor(first + round++),
        faults: false,
        resets: RESET_DEFECTS.has(defect),
        defect,
      })
      found = violations[0]
    }
    if (found === undefined) missed++
    const after = `${((performance.now() - began) / 1_000).toFixed(1)} s, round ${round}`
    console.log(found === undefined ? `${defect}: not found in ${after}` : `${defect}: found after ${after}: ${found}`)
  }
  console.log(`${DEFECTS.length} planted defects, ${DEFECTS.length - missed} found`)
  return missed > 0
}

/** Faults in every second round, because without them the calls are closer together; deletes and replaces in two of three. */
function optionsFor(seed: number): RoundOptions {
  const { clients, operations } = adapter as Pick<RoundOptions, "clients" | "operations">
  return { seed, clients, operations, kills: 1, faults: seed % 2 === 0, resets: seed % 3 > 0 }
}

function add(sum: Record<string, number>, counts: Counts): void {
  for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + (count as number)
}

/** The whole history is kept in a file. */
function show(seed: number, { violations, history }: Round): void {
  const file = join(mkdtempSync(join(tmpdir(), "sessions-linear-")), "history.json")
  writeFileSync(file, JSON.stringify(history))
  console.log(`--seed ${seed} --rounds 1: ${violations.length} violations, history in ${file}`)
  for (const violation of violations.slice(0, SHOWN)) console.log(`  ${violation}`)
}
