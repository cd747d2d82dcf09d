/** Files as they were before each message of a session. Start with {@link createCheckpoints}. */
export { createCheckpoints } from "./create.ts"
export type {
  Checkpoints,
  CheckpointsOptions,
  CheckpointsRepository,
  FileChange,
  FileStat,
  RewindOptions,
  Rewound,
  SkipReason,
  Snapshot,
  SnapshotFile,
  Tracked,
  WorkFiles,
} from "./types.ts"
