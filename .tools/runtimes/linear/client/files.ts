/** A client of the storage in files, on any runtime. Some of its writes to logs fail or are short. */
import { createBunStorage } from "@sessions/bun"
import { createFileStorage, type Files, nodeFiles } from "@sessions/fs"
import { createFaultyFiles, isLogWrite, systemError } from "../../../../packages/fs/test/faulty-files.ts"
import { createDice, type Dice } from "../../../../packages/core/test/dice.ts"
import { serve } from "./process.ts"

interface Place {
  readonly root: string
  readonly faults: boolean
}

/** A log has several parts. */
const PART_BYTES = 20_000

await serve(({ place, seed }) => {
  const { root, faults } = place as Place
  const create = "Bun" in globalThis ? createBunStorage : createFileStorage
  return create({ root, maxPartBytes: PART_BYTES, files: faults ? failing(createDice(seed)) : nodeFiles })
})

function failing(random: Dice): Files {
  const files = createFaultyFiles()
  files.fault = (call, proceed) => {
    if (!isLogWrite(call) || random.next() > 0.03) return proceed()
    throw systemError(random.pick(["EIO", "ENOSPC"]))
  }
  // A short write.
  return {
    ...files,
    write: (fd, bytes, offset, length) =>
      files.write(fd, bytes, offset, random.next() < 0.03 ? 1 + random.below(length) : length),
  }
}
