export type * from "@sessions/core/storage"
