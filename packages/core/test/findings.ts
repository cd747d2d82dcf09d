/** Logs with many damaged lines, read back from their end. */
import { expect, test } from "vitest"
import { type LoadedLog, loadLog, loadOlder } from "../src/log/load.ts"
import { loadOther } from "../src/log/load-other-version.ts"
import type { SessionStorage } from "../src/storage/contract.ts"
import { HEADER } from "./logs.ts"
import { STORED_ID, storeLines } from "./stored.ts"

export async function loadAll(storage: SessionStorage, loaded: LoadedLog, hint?: number): Promise<number> {
  let reads = 0
  for (; !loaded.log.complete; reads++) await loadOlder(storage, STORED_ID, loaded, hint)
  return reads
}

export function findingsTest(findings: number): void {
  test(`report their ${findings.toLocaleString("en")} findings in log order, however they were read`, async () => {
    const broken = [JSON.stringify(HEADER), ...Array.from({ length: findings }, () => "-")]
    const storage = await storeLines(broken)
    const loaded = await loadLog(storage, STORED_ID, loadOther([]))
    await loadAll(storage, loaded, 0)
    expect(loaded.diagnostics).toHaveLength(findings)
    expect(loaded.diagnostics.every(({ seq }, index) => seq === index + 1)).toBe(true)
  })
}
