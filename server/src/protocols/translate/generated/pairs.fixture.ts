import { chatToMessages } from '../chat-to-messages/index.ts';
import type { GeneratedPair } from '../checks/generated-pair.fixture.ts';
import { messagesToChat } from '../messages-to-chat/index.ts';
import { chatProblems } from '../schemas/chat.fixture.ts';
import { messagesProblems } from '../schemas/messages.fixture.ts';
import { chatRequests } from './chat-requests.fixture.ts';
import { unnamed } from './leaves.fixture.ts';
import { messagesRequests } from './messages-requests.fixture.ts';

/** Fields whose value has another word at the provider, or that say what leaving them out says. */
const structural = {
  messagesToChat: [
    /^model=/,
    /(^|\.)(type|role)=/,
    /\.source\.media_type=text\/plain$/,
    /\.citations\.enabled=false$/,
    /\.is_error=/,
    /^tool_choice\.disable_parallel_tool_use=/,
    /^thinking\.display=/,
    /^service_tier=standard_only$/,
    /^tools\[\d+\]\.strict=false$/,
  ],
  chatToMessages: [
    /^model=/,
    /(^|\.)(type|role)=/,
    /\.image_url\.detail=auto$/,
    /^tool_choice=/,
    /^parallel_tool_calls=/,
    /^stream=false$/,
    /^stream_options\.include_usage=/,
    /^stream_options\.include_obfuscation=false$/,
    /^response_format\.json_schema\.strict=/,
    /^tools\[\d+\]\.function\.strict=false$/,
    /^reasoning_effort=none$/,
    /^service_tier=default$/,
    /^(n=1|logprobs=false|store=false|(frequency|presence)_penalty=0)$/,
  ],
} as const;

export const chatAndMessagesPairs: readonly GeneratedPair[] = [
  {
    translation: messagesToChat,
    requests: messagesRequests(false),
    refusedShareMax: 0,
    problemsOf: chatProblems,
    unnamedIn: (request, { body, leftOut }) => unnamed(request, body, leftOut, structural.messagesToChat),
  },
  {
    translation: chatToMessages,
    requests: chatRequests,
    refusedShareMax: 0,
    problemsOf: messagesProblems,
    unnamedIn: (request, { body, leftOut }) => unnamed(request, body, leftOut, structural.chatToMessages),
  },
];
