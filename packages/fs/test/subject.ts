import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { Subject } from "@sessions/conformance"
import type { Capabilities, SessionStorage } from "@sessions/core/storage"
import { createFileStorage, type FileStorageOptions } from "@sessions/fs"
import {
  createFaultyFiles,
  dead,
  type Fault,
  type FaultyFiles,
  type FileCall,
  isLogWrite,
  systemError,
} from "./faulty-files.ts"

export const fileSystem: Subject<Place> = createSubject("fs", {})
/** Every acknowledgement after a sync. Its limits are those of its parts, and small, so that the cases that exceed them are fast. */
export const onDisk: Subject<Place> = createSubject("fs on disk", { durability: "disk", maxPartBytes: 4_000_000 })
/** Parts that are just large enough for the suite's largest batch. */
export const inParts: Subject<Place> = createSubject("fs in parts", { maxPartBytes: 2_000_000 })

/** What {@link fileSystem} can do, for runners that must know before a case starts. */
export const capabilities: Capabilities = createFileStorage({ root: "." }).capabilities

export interface Place {
  readonly root: string
  readonly options: Omit<FileStorageOptions, "root">
  readonly open: Map<SessionStorage, FaultyFiles>
}

export function createSubject(
  name: string,
  options: Omit<FileStorageOptions, "root">,
  create: (options: FileStorageOptions) => SessionStorage = createFileStorage,
): Subject<Place> {
  return {
    name,
    makeLocation: () => ({ root: fs.mkdtempSync(join(folderFor(options), "sessions-fs-")), options, open: new Map() }),
    open(place) {
      const files = createFaultyFiles()
      const storage = create({ ...place.options, root: place.root, files })
      place.open.set(storage, files)
      return storage
    },
    removeLocation: ({ root }) => fs.rmSync(root, { recursive: true, force: true }),
    tearTail({ root }, session, bytes) {
      fs.appendFileSync(partsOf(root, session).at(-1)?.path ?? "", bytes)
    },
    corruptLine({ root }, session, seq) {
      const part = partsOf(root, session).findLast(({ from }) => from <= seq)
      const bytes = fs.readFileSync(part?.path ?? "")
      let at = 0
      for (let line = part?.from ?? 0; line < seq; line++) at = bytes.indexOf(10, at) + 1
      bytes[at] = 0xff
      fs.writeFileSync(part?.path ?? "", bytes)
    },
    corruptHead({ root }, session) {
      const [first] = partsOf(root, session)
      fs.renameSync(first?.path ?? "", join(root, session, "session_part2.1.jsonl"))
    },
    contains: ({ root }, text) =>
      fs
        .readdirSync(root, { recursive: true, withFileTypes: true })
        .some((entry) => entry.isFile() && fs.readFileSync(join(entry.parentPath, entry.name)).includes(text)),
    crash(storage, { root, open }) {
      const files = open.get(storage)
      if (files !== undefined) files.fault = dead()
      killOwners(join(root, ".locks"))
    },
    faults: {
      quota: (place) =>
        arm(place, () => {
          throw systemError("ENOSPC")
        }),
      requestLost: (place) =>
        arm(place, () => {
          throw systemError("EIO")
        }),
      // The write is in the file, and can neither be told from a failed one nor be taken back.
      responseLost: (place) =>
        arm(place, (_, proceed, files) => {
          proceed()
          files.fault = ({ op }, go) => {
            if (op !== "truncate") return go()
            files.fault = undefined
            throw systemError("EIO")
          }
          throw systemError("EIO")
        }),
      removal({ open }) {
        for (const files of open.values()) {
          files.fault = ({ op }, proceed) => {
            if (op !== "remove") return proceed()
            throw systemError("EACCES")
          }
        }
        return () => {
          for (const files of open.values()) files.fault = undefined
        }
      },
    },
  }
}

/** A disk that is busy with others takes milliseconds for a file; where no sync is asked for, memory does as well. */
function folderFor({ durability }: Place["options"]): string {
  return durability !== "disk" && fs.existsSync("/dev/shm") ? "/dev/shm" : tmpdir()
}

/** No process has this id: it is above what Linux gives. */
const NO_PROCESS = 4_194_305

/** Locks as a process leaves them that is gone. */
export function killOwners(folder: string): void {
  if (!fs.existsSync(folder)) return
  for (const file of fs.readdirSync(folder)) {
    if (!file.endsWith(".lock")) continue
    const path = join(folder, file)
    const text = fs.readFileSync(path, "utf8")
    if (text === "") continue
    fs.writeFileSync(path, JSON.stringify({ ...(JSON.parse(text) as object), pid: NO_PROCESS }))
  }
}

type ArmedFault = (...of: [...Parameters<Fault>, FaultyFiles]) => unknown

function arm(place: Place, fault: ArmedFault): void {
  for (const files of place.open.values()) {
    files.fault = (call, proceed) => {
      if (!isLogWrite(call) || isBesideLog(call)) return proceed()
      for (const others of place.open.values()) others.fault = undefined
      return fault(call, proceed, files)
    }
  }
}

/** Whether it writes what is derived from a log that is there, such as its information: some time after the append, which does not wait for it. */
function isBesideLog({ path }: FileCall): boolean {
  return path.includes(".tmp-") && fs.readdirSync(dirname(path)).some((name) => name.endsWith(".jsonl"))
}

function partsOf(root: string, session: string): { path: string; from: number }[] {
  return fs
    .readdirSync(join(root, session))
    .filter((file) => file.endsWith(".jsonl"))
    .map((file) => ({ path: join(root, session, file), from: Number(/\.(\d+)\.jsonl$/.exec(file)?.[1] ?? 0) }))
    .sort((a, b) => a.from - b.from)
}
