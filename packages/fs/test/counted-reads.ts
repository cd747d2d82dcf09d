import { type Files, nodeFiles } from "@sessions/fs"

export interface CountedReads {
  readonly files: Files
  /** Bytes that were read since the last call. */
  take(): number
  /** Bytes of the largest buffer that was read into. */
  largest(): number
}

/** Node's files, with what is read of them. */
export function countReads(): CountedReads {
  let bytes = 0
  let largest = 0
  const files: Files = {
    ...nodeFiles,
    read(fd, into, offset, length, position) {
      largest = Math.max(largest, into.buffer.byteLength)
      const count = nodeFiles.read(fd, into, offset, length, position)
      bytes += count
      return count
    },
    async readAsync(fd, into, offset, length, position) {
      largest = Math.max(largest, into.buffer.byteLength)
      const count = await nodeFiles.readAsync(fd, into, offset, length, position)
      bytes += count
      return count
    },
  }
  return {
    files,
    take() {
      const taken = bytes
      bytes = 0
      return taken
    },
    largest: () => largest,
  }
}
