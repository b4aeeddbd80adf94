# Makes transformers-5.17.0.json: what generate() of Hugging Face transformers gives by beam search, on scores that follow from a
# hash of the new tokens so far, so that a test can make them again. Needs torch and transformers.
import json, torch, transformers
from transformers import PretrainedConfig, PreTrainedModel, GenerationMixin, GenerationConfig
from transformers.modeling_outputs import CausalLMOutputWithPast
M=0xFFFFFFFF
def mix(h):
    h ^= h>>16; h=(h*0x7feb352d)&M; h^=h>>15; h=(h*0x846ca68b)&M; h^=h>>16; return h
def score(seed,length,last,token,spread):
    h=mix((seed*0x9e3779b1+length*0x85ebca6b+last*0xc2b2ae35+token*0x27d4eb2f)&M)
    return h/2**32*spread
class Cfg(PretrainedConfig):
    model_type='fake'
class Fake(PreTrainedModel, GenerationMixin):
    config_class=Cfg
    def __init__(self,c,case):
        super().__init__(c); self.p=torch.nn.Parameter(torch.zeros(1)); self.case=case
    def prepare_inputs_for_generation(self,input_ids,**k): return {'input_ids':input_ids}
    def forward(self,input_ids,**k):
        c=self.case; b,l=input_ids.shape
        out=torch.empty(b,1,c['vocabulary'],dtype=torch.float32)
        for r in range(b):
            last=0
            for t in input_ids[r,c['promptLength']:].tolist(): last=(last*31+t+1)&M
            for t in range(c['vocabulary']): out[r,0,t]=score(c['seed'],l-c['promptLength'],last,t,c['spread'])+(c['endBonus'] if t==c['endToken'] else 0)
        return CausalLMOutputWithPast(logits=out)
    def _supports_default_dynamic_cache(self): return False
cases=[]
import random
rnd=random.Random(5)
for seed in range(60):
    case=dict(seed=seed,promptLength=rnd.randint(1,5),vocabulary=rnd.randint(9,24),endToken=2,spread=rnd.choice([1,3,8]),endBonus=rnd.choice([0,0,1,2]),beams=rnd.choice([2,3,4,4,4]),newTokensMin=rnd.choice([0,0,2,4]),newTokensMax=rnd.choice([1,4,8,12,20]))
    if case['newTokensMin']>case['newTokensMax']: case['newTokensMin']=0
    c=Cfg(vocab_size=case['vocabulary']); m=Fake(c,case)
    prompt=torch.arange(3,3+case['promptLength']).unsqueeze(0)
    kw=dict(num_beams=case['beams'],early_stopping=True,max_new_tokens=case['newTokensMax'],do_sample=False,eos_token_id=2,pad_token_id=2,use_cache=False)
    if case['newTokensMin']: kw['min_new_tokens']=case['newTokensMin']
    m.generation_config=GenerationConfig(**kw)
    out=m.generate(prompt)
    case['tokens']=out[0,case['promptLength']:].tolist()
    del case['promptLength'], case['endToken']
    cases.append(case)
with open(f'transformers-{transformers.__version__}.json','w') as f:
    f.write('[\n' + ',\n'.join(' ' + json.dumps(c) for c in cases) + '\n]\n')
