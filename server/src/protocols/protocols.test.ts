import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allRoutes, Operation, RouteKind, WireProtocol } from '@relay/contract';
import { finish } from '../kit/slices.ts';
import { allProtocols, probedProtocol, protocols, protocolsOf } from './index.ts';

describe('the table of protocols', () => {
  it('has one protocol for every operation of the contract', () => {
    assert.deepEqual(Object.keys(protocols).sort(), [...Operation.enum].sort());
    for (const [operation, protocol] of Object.entries(protocols))
      assert.equal(protocol.operation, operation);
  });

  it('has the paths of the inference routes of the contract, and no others', () => {
    const routed = allRoutes.filter(({ plane, method }) => plane === 'inference' && method === 'POST');
    assert.deepEqual(
      allProtocols.map(({ path }) => `/v1${path}`).sort(),
      routed.map(({ path }) => path).sort(),
    );
  });

  it('serves an endpoint of every kind, and tests it with a protocol that the endpoint serves', () => {
    for (const kind of RouteKind.enum) {
      for (const family of WireProtocol.enum) {
        const probed = probedProtocol(kind, family);
        assert.equal(probed.family, family);
        const served = protocolsOf(kind).filter((each) => each.family === family);
        assert.ok(served.length === 0 || served.includes(probed), `${kind} ${family}`);
      }
    }
  });
});

describe('a probe', () => {
  it('is a request that its own protocol accepts, in every form', () => {
    for (const { operation, request, probe } of allProtocols) {
      const other = probe.requestAfter('m', 'Use max_completion_tokens instead.');
      for (const body of [probe.request('m'), ...(other === null ? [] : [other])]) {
        assert.equal(finish(request.parse(Buffer.from(JSON.stringify(body)))).model, 'm', operation);
      }
    }
  });
});
