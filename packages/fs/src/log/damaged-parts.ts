/**
 * The parts in which a read found more or fewer lines than they should have. Every later read of such a part is refused until its file is
 * another one: a shorter range, counted from one end of the part, would not show the damage.
 */
import type { FileStat, Files } from "../disk/files.ts"
import { isSameFile } from "./stat-cache.ts"

export interface DamagedParts {
  add(path: string, fd: number): void
  has(path: string, fd: number): boolean
}

export function createDamagedParts(files: Files): DamagedParts {
  const known = new Map<string, FileStat>()
  return {
    add: (path, fd) => void known.set(path, files.fstat(fd)),
    has(path, fd) {
      const before = known.get(path)
      if (before === undefined || isSameFile(before, files.fstat(fd))) return before !== undefined
      return !known.delete(path)
    },
  }
}
