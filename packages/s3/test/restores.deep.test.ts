/** Older versions of the objects are put back: of the tail, and the segments that it names. */
import { expect, test } from "vitest"
import { rounds } from "../../../.config/rounds.ts"
import { checkRestores, type Restorable } from "../../core/test/restores.ts"
import { FakeBucket } from "./fake-bucket.ts"
import { openStorage, SMALL_SIZES } from "./open-storage.ts"

function makeStore(): Restorable {
  const bucket = new FakeBucket()
  return {
    open: () => openStorage(bucket, SMALL_SIZES).storage,
    async backup() {
      const copy = new Map(bucket.objects)
      return () => {
        for (const [key, object] of copy) bucket.objects.set(key, object)
      }
    },
  }
}

test("after a restore no line is behind one that its writer has not seen, and every lost entry is named", async () => {
  const count = rounds(1_000)
  expect(await checkRestores(makeStore, count)).toBe(count)
})
