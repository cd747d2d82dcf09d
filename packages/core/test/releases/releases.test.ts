/** Every later version reads what a release has stored, with the same result. */
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createSessions } from "../../src/session/repository.ts"
import { textOf } from "../transfer.ts"
import { BLOBS, exportOf, ID, readAll, releaseOf, storageOf } from "./release.ts"
import { exportSession, importSession } from "@sessions/core/transfer"

const release = releaseOf("0.1.0")

test("a log of 0.1.0 has the context, the branches, the calls and the information that it had", async () => {
  const storage = await storageOf(release)
  expect(await textOf(exportSession(createSessions({ storage }), ID))).toBe(release.log)
  expect(await exportOf(storage)).toBe(release.exported)
  expect(await readAll(storage)).toEqual(release.expected)
})

test("its information of 0.1.0, beside the head or in its document, of the end or of an earlier line, gives the same", async () => {
  const { beside, document } = release.information
  for (const stored of [...beside.map((one) => ({ beside: one })), { document }, { beside: beside.at(-1), document }])
    expect(await readAll(await storageOf(release, stored as Parameters<typeof storageOf>[1]))).toEqual(release.expected)
})

test("an export of 0.1.0 is imported as the session that it was", async () => {
  const storage = createMemoryStorage({ clock: () => Date.UTC(2026, 0, 6) })
  const { diagnostics } = await importSession(createSessions({ storage, blobs: BLOBS }), release.exported, { id: ID })
  expect(diagnostics).toEqual([])
  expect(await exportOf(storage)).toBe(release.exported)
  expect(await readAll(storage)).toEqual(release.expected)
})
