/** As `statfs` reports them on Linux: 9P, AFS, Ceph, CIFS, FUSE, NFS, SMB and SMB2; GFS2, GPFS, Lustre and OCFS2. */
const NETWORK_FILE_SYSTEMS: readonly number[] = [
  0x01021997, 0x5346414f, 0x00c36400, 0xff534d42, 0x65735546, 0x6969, 0x517b, 0xfe534d42, 0x01161970,
  0x47504653, 0x0bd00bd0, 0x7461636f,
];

/** True for a Linux file system whose locks and shared memory may not reach every user of a file. */
export function isNetworkFs(type: number): boolean {
  return NETWORK_FILE_SYSTEMS.includes(type >>> 0);
}
