import { afterMs } from '../harness/until.ts';
import type { AbortJob, HungUpResult } from './client-jobs.ts';
import { openStream } from './stream-request.ts';

/** Far fewer than a stream has: a machine that stands still for seconds ends none of them. */
const ABORT_FRAMES_MAX = 30;

/** Disconnects each stream at a different frame, and records the time. */
export async function runAbort(job: AbortJob): Promise<HungUpResult> {
  const abortedAtMs: Record<string, number> = {};
  const problems: string[] = [];
  let receivedBytes = 0;

  async function abortOne(index: number): Promise<void> {
    await afterMs(index * job.startGapMs);
    const tag = job.tagPrefix + index;
    // Spread evenly over the stream; a stride that is coprime to the count visits every frame.
    const abortAfterFrames = 1 + ((job.seed + index * 37) % ABORT_FRAMES_MAX);
    const sim = { frames: job.frames, frameBytes: 64, frameDelayMs: job.frameDelayMs };
    await new Promise<void>((resolve) => {
      let frames = 0;
      let aborted = false;
      const sending = openStream(
        job,
        tag,
        sim,
        (response) => {
          response.on('error', () => undefined);
          response.on('data', (chunk: Buffer) => {
            receivedBytes += chunk.length;
            frames += chunk.toString('latin1').split('\n\n').length - 1;
            if (aborted || frames < abortAfterFrames) return;
            aborted = true;
            abortedAtMs[tag] = Date.now();
            sending.destroy();
          });
          response.on('close', () => {
            if (!aborted) problems.push(`${tag} ended by itself after ${frames} frames`);
            resolve();
          });
        },
        (error) => {
          if (!aborted) problems.push(`${tag}: ${error.message}`);
          resolve();
        },
      );
    });
  }

  await Promise.all(Array.from({ length: job.streams }, (_, index) => abortOne(index)));
  return { abortedAtMs, receivedBytes, problems };
}
